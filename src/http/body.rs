//! Reads a body once, into memory that wipes itself.

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;

use crate::protection::Unread;
use crate::wiped::Wiped;

/// The body of a request.
pub(super) type Bytes = Wiped<Vec<u8>>;

/// Refuses a body that is not declared as JSON.
///
/// # Errors
/// When its `Content-Type` is not `application/json`, with or without parameters.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), Unread> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or("")
        .trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(Unread::OtherMedia)
    }
}

/// Reads at most `limit` bytes and stops there.
///
/// # Errors
/// When the body is longer or incomplete.
pub(super) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
) -> Result<Bytes, Unread> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(Unread::TooLarge);
    }
    // The full capacity up front: growing would leave copies of plaintext in freed memory.
    let mut bytes = Wiped::new(Vec::with_capacity(announced.unwrap_or(0)));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len().saturating_add(data.len()) > limit {
            return Err(Unread::TooLarge);
        }
        append(&mut bytes, &data);
    }
    Ok(bytes)
}

/// Appends to `bytes`; a reallocation wipes the old memory.
fn append(bytes: &mut Bytes, data: &[u8]) {
    let needed = bytes.len().saturating_add(data.len());
    if needed > bytes.capacity() {
        let mut larger = Wiped::new(Vec::with_capacity(needed.max(bytes.capacity() * 2)));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(data);
}
