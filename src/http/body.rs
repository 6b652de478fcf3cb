//! Reads a body once, into memory that wipes itself.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, header};
use http_body_util::BodyExt as _;

use crate::protection::Unread;
use crate::web::Arrival;
use crate::wiped::Wiped;

/// The largest body that is read without growth. An announced length is not data: it reserves no more
/// memory than this.
pub(super) const SMALL: usize = 64 * 1024;

/// A buffer grows by this factor.
const GROWTH: usize = 4;

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
    let most = announced.unwrap_or(limit);
    let mut bytes = Wiped::new(Vec::with_capacity(announced.unwrap_or(0).min(SMALL)));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len().saturating_add(data.len()) > limit {
            return Err(Unread::TooLarge);
        }
        append(&mut bytes, &data, most);
    }
    Ok(bytes)
}

/// Appends to `bytes`, which has at most `most` bytes in the end. A reallocation wipes the old memory.
fn append(bytes: &mut Bytes, data: &[u8], most: usize) {
    let needed = bytes.len().saturating_add(data.len());
    if needed > bytes.capacity() {
        let grown = bytes.capacity().saturating_mul(GROWTH).min(most);
        let mut larger = Wiped::new(Vec::with_capacity(needed.max(grown)));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use futures_util::stream;

    use super::*;

    /// The largest body of a batch.
    const LIMIT: usize = 33_900_000;

    async fn read_announced(announced: usize, frames: Vec<Vec<u8>>) -> Result<Bytes, Unread> {
        let frames = frames.into_iter().map(Ok::<_, std::io::Error>);
        let request = Request::post("/")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONTENT_LENGTH, announced)
            .body(Body::from_stream(stream::iter(frames)));
        let (parts, body) = request.unwrap().into_parts();
        read(&parts, body, LIMIT).await
    }

    #[tokio::test]
    async fn an_announced_length_reserves_no_memory() {
        let empty = read_announced(LIMIT, Vec::new()).await.unwrap();
        assert!(empty.capacity() <= SMALL, "{}", empty.capacity());
        let short = read_announced(LIMIT, vec![vec![7; SMALL + 1]]).await;
        let capacity = short.unwrap().capacity();
        assert!(capacity <= SMALL * GROWTH, "{capacity}");
        let refused = read_announced(LIMIT + 1, Vec::new()).await;
        assert_eq!(refused.unwrap_err(), Unread::TooLarge);
    }

    #[tokio::test]
    async fn a_large_body_grows_to_its_announced_length() {
        let frames: Vec<Vec<u8>> = (0..100).map(|n| vec![n; 10_000]).collect();
        let expected = frames.concat();
        let bytes = read_announced(expected.len(), frames).await.unwrap();
        assert_eq!(*bytes, expected);
        assert_eq!(bytes.capacity(), expected.len());
    }

    #[test]
    fn a_small_body_has_one_allocation() {
        let mut bytes = Wiped::new(Vec::with_capacity(SMALL));
        let place = bytes.as_ptr();
        for _ in 0..64 {
            append(&mut bytes, &[7; 1024], SMALL);
        }
        assert_eq!((bytes.len(), bytes.as_ptr()), (SMALL, place));
    }
}
