//! The form of answers. Clients need all of its members.

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};

use engine::body_memory::BodyShare;
use engine::protection::Body;
use engine::ratelimit::BucketState;
use engine::receive::sent;
use engine::request_tag::RequestTag;
use engine::web::write_rate_limit;
use formats::wiped::Wiped;

const BEFORE_DATA: &str = r#","lease_id":"","renewable":false,"lease_duration":0,"data":"#;
const AFTER_DATA: &str = r#","wrap_info":null,"warnings":null,"auth":null}"#;

/// An answer with `data`, which `write` appends. It is about `length` bytes long.
pub(crate) fn with_data(
    tag: &RequestTag,
    length: usize,
    write: impl FnOnce(&mut Wiped<Vec<u8>>),
) -> Body {
    let tag = json!(tag.as_str()).to_string();
    let around = tag.len() + BEFORE_DATA.len() + AFTER_DATA.len() + 16;
    let mut out = Wiped::new(Vec::with_capacity(length + around));
    for part in ["{\"request_id\":", &tag, BEFORE_DATA] {
        out.extend_from_slice(part.as_bytes());
    }
    write(&mut out);
    out.extend_from_slice(AFTER_DATA.as_bytes());
    Body::new(out)
}

/// An answer with `data` that is no secret.
pub(crate) fn data(tag: &RequestTag, data: &Value, bucket: Option<BucketState>) -> Response {
    let text = data.to_string();
    let body = with_data(tag, text.len(), |out| out.extend_from_slice(text.as_bytes()));
    ok(StatusCode::OK, body, None, bucket)
}

/// An answer with `auth`.
pub(crate) fn auth(tag: &RequestTag, auth: &str, bucket: BucketState) -> Response {
    let tag = json!(tag.as_str());
    let parts = [
        "{\"request_id\":",
        &tag.to_string(),
        r#","lease_id":"","renewable":false,"lease_duration":0,"data":null,"wrap_info":null,"#,
        r#""warnings":null,"auth":"#,
        auth,
        "}",
    ];
    let length = parts.iter().map(|part| part.len()).sum();
    let mut out = Wiped::new(Vec::with_capacity(length));
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    ok(StatusCode::OK, Body::new(out), None, Some(bucket))
}

/// The response with a body in JSON. The share of the request covers the response too.
pub(crate) fn ok(
    status: StatusCode,
    body: Body,
    share: Option<Arc<BodyShare>>,
    bucket: Option<BucketState>,
) -> Response {
    let mut response = Response::new(sent(body, share));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if let Some(bucket) = bucket {
        write_rate_limit(bucket, response.headers_mut());
    }
    response
}

/// A response without a body.
pub(crate) fn no_content(bucket: BucketState) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    write_rate_limit(bucket, response.headers_mut());
    response
}
