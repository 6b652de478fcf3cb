//! The error responses of a route: those of its kind, and those that its handler lists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use utoipa::ToSchema as _;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder, Schema};

use super::extractors::IF_MATCH;
use super::headers;
use crate::error::ErrorBody;
use crate::error_code::ErrorCode::{
    self, AuthenticationFailed, Forbidden, InternalError, InvalidRequest, PayloadTooLarge,
    PreconditionFailed, RateLimitExceeded, RequestTimeout, ServiceFrozen, ServiceUnavailable,
    UnsupportedMediaType,
};
use crate::routes::Access;

/// Adds all error responses of `operation`. Codes with the same status form one response, which goes
/// to `shared` under the names of its codes.
pub(super) fn add(
    operation: &mut Operation,
    access: Access,
    shared: &mut BTreeMap<String, RefOr<Response>>,
) {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in codes(operation, access) {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    for (status, codes) in by_status {
        let answer = response(&codes);
        let responses = &mut operation.responses.responses;
        match responses.get_mut(&status.to_string()) {
            // The handler documents this status itself, such as health.
            Some(RefOr::T(own)) => join(own, answer),
            _ => {
                let names: Vec<_> = codes.iter().map(|code| code.name()).collect();
                let name = names.join(".");
                responses.insert(status.to_string(), Ref::from_response_name(&name).into());
                shared.insert(name, answer.into());
            }
        }
    }
}

fn codes(operation: &mut Operation, access: Access) -> BTreeSet<ErrorCode> {
    // Every request can have an invalid id, time out, or meet a defect.
    let mut codes = BTreeSet::from([InvalidRequest, InternalError, ServiceUnavailable]);
    if access != Access::Anyone {
        codes.extend([AuthenticationFailed, RateLimitExceeded]);
    }
    if matches!(access, Access::Application | Access::Administrator) {
        codes.insert(Forbidden);
    }
    if operation.request_body.is_some() {
        codes.extend([PayloadTooLarge, RequestTimeout, UnsupportedMediaType]);
        // Look-ups have no body.
        if access == Access::Application {
            codes.insert(ServiceFrozen);
        }
    }
    if takes_if_match(operation) {
        codes.insert(PreconditionFailed);
    }
    let responses = &mut operation.responses.responses;
    let listed = ErrorCode::ALL.iter().filter(|code| responses.remove(code.name()).is_some());
    codes.extend(listed);
    codes
}

fn takes_if_match(operation: &Operation) -> bool {
    let parameters = operation.parameters.iter().flatten();
    parameters.into_iter().any(|parameter| {
        matches!(parameter, RefOr::T(parameter)
            if parameter.name == IF_MATCH && parameter.parameter_in == ParameterIn::Header)
    })
}

/// The response for these codes, which have the same status.
fn response(codes: &[ErrorCode]) -> Response {
    let schema = Ref::from_schema_name(ErrorBody::name());
    let examples = codes.iter().map(|code| (code.name(), example(*code)));
    let content = Content::builder().schema(Some(schema)).examples_from_iter(examples).build();
    let descriptions: Vec<_> =
        codes.iter().map(|code| format!("`{code}`: {}.", code.message())).collect();
    let mut response = ResponseBuilder::new()
        .description(descriptions.join(" "))
        .content("application/json", content)
        .build();
    response.headers.extend(headers::of_refusals(codes));
    response
}

fn example(code: ErrorCode) -> RefOr<utoipa::openapi::example::Example> {
    let mut error = json!({ "code": code.name(), "message": code.message() });
    if code == InvalidRequest
        && let Some(members) = error.as_object_mut()
    {
        let problem = json!({ "field": "name", "code": "required", "message": "is required" });
        members.insert("details".to_owned(), json!([problem]));
    }
    let whole = json!({ "error": error, "requestId": "req_01h455vb4pex5vsknk084sn02q" });
    ExampleBuilder::new().value(Some(whole)).build().into()
}

/// Merges two responses with the same status.
fn join(own: &mut Response, other: Response) {
    own.description = format!("{} Or: {}", own.description, other.description);
    own.headers.extend(other.headers);
    for (media, content) in other.content {
        let RefOr::T(other) = content else { continue };
        let Some(RefOr::T(mine)) = own.content.get_mut(&media) else {
            own.content.insert(media, other.into());
            continue;
        };
        if let (Some(mine_schema), Some(other_schema)) = (mine.schema.take(), other.schema) {
            let either = AnyOfBuilder::new().item(mine_schema).item(other_schema);
            mine.schema = Some(RefOr::T(Schema::AnyOf(either.build())));
        }
    }
}
