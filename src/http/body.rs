//! The media types of bodies.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, header};

use engine::body_memory::{BodyBytes, CallerMemory};
use engine::web::{UnreadableBody, check_encoding, read_body};

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Reads at most `limit` bytes of a body in JSON.
pub(super) async fn read(
    parts: &Parts,
    body: Body,
    limit: usize,
    memory: Option<CallerMemory<'_>>,
) -> Result<BodyBytes, UnreadableBody> {
    check_media(parts)?;
    read_body(parts, body, limit, memory).await
}

/// Refuses a body that is encoded, or not declared as the JSON that its method takes. Parameters of
/// the `Content-Type` do not matter. A restoration takes a JSON Merge Patch, also declared as JSON.
pub(super) fn check_media(parts: &Parts) -> Result<(), UnreadableBody> {
    check_encoding(parts)?;
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or("").trim();
    let wanted: &[&str] = match parts.method {
        Method::PATCH => &[MERGE_PATCH],
        _ if parts.uri.path().ends_with("/restore") => &[JSON, MERGE_PATCH],
        _ => &[JSON],
    };
    let is_wanted = wanted.iter().any(|media| essence.eq_ignore_ascii_case(media));
    if is_wanted { Ok(()) } else { Err(UnreadableBody::OtherMedia) }
}
