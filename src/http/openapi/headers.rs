//! The headers of answers.

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr};

use crate::http::error_code::ErrorCode;
use crate::http::routes::Access;

/// Every header that several answers have, by name.
pub(super) fn shared() -> [(&'static str, Header); 6] {
    let number = |description: &str, example: u32| {
        let whole = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0));
        HeaderBuilder::new()
            .description(Some(description))
            .schema(Some(whole))
            .example(Some(json!(example)))
            .build()
    };
    [
        (
            REQUEST_ID,
            always(
                "What the request is called.",
                json!("req_01h455vb4pex5vsknk084sn02q"),
            ),
        ),
        (
            "X-RateLimit-Limit",
            number("The most requests at once.", 200),
        ),
        (
            "X-RateLimit-Remaining",
            number("How many are left of them.", 199),
        ),
        (
            "X-RateLimit-Reset",
            number("When all are back, in seconds since 1970.", 1_900_000_000),
        ),
        (RETRY_AFTER, number("In how many seconds to try again.", 1)),
        (
            WWW_AUTHENTICATE,
            always("How to authenticate.", json!("Bearer")),
        ),
    ]
}

const REQUEST_ID: &str = "X-Request-Id";
const RETRY_AFTER: &str = "Retry-After";
const WWW_AUTHENTICATE: &str = "WWW-Authenticate";
const LIMITS: [&str; 3] = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
];

/// A header that is always there.
pub(super) fn always(description: &str, example: Value) -> Header {
    HeaderBuilder::new()
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .example(Some(example))
        .extensions(Some(Extensions::from_iter([("required", true)])))
        .build()
}

/// Adds to what `operation` says of itself the headers that its answers have like all others.
pub(super) fn add(operation: &mut Operation, access: Access) {
    for response in operation.responses.responses.values_mut() {
        let RefOr::T(response) = response else {
            continue;
        };
        response
            .headers
            .insert(REQUEST_ID.to_owned(), to(REQUEST_ID));
        if access != Access::Anyone {
            response
                .headers
                .extend(LIMITS.map(|name| (name.to_owned(), to(name))));
        }
    }
}

/// The headers of a refusal under one of these codes.
pub(super) fn of_refusals(codes: &[ErrorCode]) -> impl Iterator<Item = (String, RefOr<Header>)> {
    let has = |code| codes.contains(&code);
    let mut names = vec![REQUEST_ID];
    if has(ErrorCode::AuthenticationFailed) {
        names.push(WWW_AUTHENTICATE);
    } else {
        // Where the caller is known.
        names.extend(LIMITS);
    }
    if has(ErrorCode::RateLimitExceeded) || has(ErrorCode::ServiceUnavailable) {
        names.push(RETRY_AFTER);
    }
    names.into_iter().map(|name| (name.to_owned(), to(name)))
}

fn to(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}
