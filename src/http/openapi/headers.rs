//! The headers of responses.

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Required};

use crate::error_code::ErrorCode;
use crate::routes::Access;

/// The headers that several responses share, by name.
pub(super) fn shared() -> [(&'static str, Header); 6] {
    let number = |description: &str, example: u32| {
        let whole = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
        HeaderBuilder::new()
            .description(Some(description))
            .schema(Some(whole))
            .example(Some(json!(example)))
            .build()
    };
    [
        (REQUEST_ID, always("The ID of the request.", json!("req_01h455vb4pex5vsknk084sn02q"))),
        ("X-RateLimit-Limit", number("The burst limit in requests.", 200)),
        ("X-RateLimit-Remaining", number("The remaining requests.", 199)),
        (
            "X-RateLimit-Reset",
            number("The time when the limit is full again, in seconds since 1970.", 1_900_000_000),
        ),
        (RETRY_AFTER, number("The seconds to wait before a retry.", 1)),
        (WWW_AUTHENTICATE, always("The authentication scheme.", json!("Bearer"))),
    ]
}

pub(super) const REQUEST_ID: &str = "X-Request-Id";
const RETRY_AFTER: &str = "Retry-After";
const WWW_AUTHENTICATE: &str = "WWW-Authenticate";
const LIMITS: [&str; 3] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/// The header that every request can have.
pub(super) fn request_id() -> Parameter {
    let id = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^([!-~]([ -~]{0,126}[!-~])?)?$"));
    ParameterBuilder::new()
        .name(REQUEST_ID)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("An ID for the log and the audit log. Default: a new ID."))
        .schema(Some(id))
        .example(Some(json!("order 4711")))
        .build()
}

/// Adds the header that every request can have to the parameters of `operation`.
pub(super) fn add_request_id(operation: &mut Operation) {
    let reference = Ref::new(format!("#/components/parameters/{REQUEST_ID}"));
    let parameters = operation.parameters.get_or_insert_default();
    parameters.push(RefOr::Ref(reference));
}

/// A header that is always present.
pub(super) fn always(description: &str, example: Value) -> Header {
    HeaderBuilder::new()
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .example(Some(example))
        .extensions(Some(Extensions::from_iter([("required", true)])))
        .build()
}

/// Adds the common headers to the responses of `operation`.
pub(super) fn add(operation: &mut Operation, access: Access) {
    for response in operation.responses.responses.values_mut() {
        let RefOr::T(response) = response else {
            continue;
        };
        response.headers.insert(REQUEST_ID.to_owned(), to(REQUEST_ID));
        if access != Access::Anyone {
            response.headers.extend(LIMITS.map(|name| (name.to_owned(), to(name))));
        }
    }
}

/// The headers of an error response with one of these codes.
pub(super) fn of_refusals(codes: &[ErrorCode]) -> impl Iterator<Item = (String, RefOr<Header>)> {
    let has = |code| codes.contains(&code);
    let mut names = vec![REQUEST_ID];
    if has(ErrorCode::AuthenticationFailed) {
        names.push(WWW_AUTHENTICATE);
    } else {
        // Where the caller is known.
        names.extend(LIMITS);
    }
    if has(ErrorCode::RateLimitExceeded)
        || has(ErrorCode::ServiceUnavailable)
        || has(ErrorCode::Conflict)
    {
        names.push(RETRY_AFTER);
    }
    names.into_iter().map(|name| (name.to_owned(), to(name)))
}

fn to(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}
