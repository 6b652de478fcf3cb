//! Reads a body once, into memory that wipes itself.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, header};
use http_body_util::BodyExt as _;

use crate::protection::Unread;
use crate::web::Arrival;
use crate::wiped::Wiped;

/// The body of a request.
pub(super) type Bytes = Wiped<Vec<u8>>;

/// Reads at most `limit` bytes of a body in JSON and stops there.
///
/// # Errors
/// The body is declared as something else, longer, incomplete or late.
pub(super) async fn read(parts: &Parts, body: Body, limit: usize) -> Result<Bytes, Unread> {
    check_media(parts)?;
    let reading = read_bytes(parts, body, limit);
    match parts.extensions.get::<Arrival>() {
        Some(arrival) => arrival.in_time(reading).await.unwrap_or(Err(Unread::Late)),
        // A route without the frame around it has no time limit.
        None => reading.await,
    }
}

/// Refuses a body that is encoded, or not declared as the JSON that its method takes. Parameters of
/// the `Content-Type` do not matter.
fn check_media(parts: &Parts) -> Result<(), Unread> {
    if parts.headers.contains_key(header::CONTENT_ENCODING) {
        return Err(Unread::Encoded);
    }
    let kind = parts
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or("")
        .trim();
    let wanted = match parts.method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    if essence.eq_ignore_ascii_case(wanted) {
        Ok(())
    } else {
        Err(Unread::OtherMedia)
    }
}

async fn read_bytes(parts: &Parts, mut body: Body, limit: usize) -> Result<Bytes, Unread> {
    let announced = parts
        .headers
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
