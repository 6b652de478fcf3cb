//! What the document says of `Idempotency-Key`, which every management `POST` takes.

use serde_json::json;
use utoipa::IntoResponses as _;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required};

use crate::error_code::errors;

/// Adds the header, the conflict and the header of a repeated answer to `operation`.
pub(super) fn add(operation: &mut Operation) {
    let key = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(128))
        .pattern(Some("^[ -~]+$"))
        .examples([json!("order 4711")]);
    let header = ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Makes it safe to send the request again. For 24 hours, a request with the same path, body \
             and key gets the response to the first request. In the repeated response, `secret` is null.",
        ))
        .schema(Some(key));
    let parameters = operation.parameters.get_or_insert_default();
    parameters.push(header.build().into());
    let responses = &mut operation.responses.responses;
    responses.extend(errors::Conflict::responses());
    for status in ["200", "201", "202"] {
        let Some(RefOr::T(done)) = responses.get_mut(status) else {
            continue;
        };
        let replayed = HeaderBuilder::new()
            .description(Some("`true` if this is the response to an earlier request."))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
            .example(Some(json!("true")));
        let name = "Idempotency-Replayed".to_owned();
        done.headers.insert(name, replayed.build().into());
    }
}
