//! Reads a body once, into memory that wipes itself.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header;
use axum::http::request::Parts;
use http_body_util::BodyExt as _;

use super::Arrival;
use crate::body_memory::{BodyBytes, CallerMemory, SMALL_BODY, TINY_BODY};
use formats::wiped::Wiped;

/// A buffer grows by this factor.
const GROWTH: usize = 4;

/// Marks a request whose body was read before and is in memory.
#[derive(Clone, Copy)]
struct IsInMemory;

/// The reasons why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableBody {
    /// The content type is another one.
    #[error("the body is not application/json")]
    OtherMedia,
    /// It has a content encoding.
    #[error("the body has a Content-Encoding")]
    Encoded,
    /// It is larger than allowed.
    #[error("the body is too large")]
    TooLarge,
    /// It ended early.
    #[error("the body ended early")]
    BrokenOff,
    /// Other large bodies used the memory for too long.
    #[error("too many large bodies are in memory")]
    NoMemory,
    /// It did not arrive in time.
    #[error("the body did not arrive in time")]
    Late,
}

/// Refuses a body that is encoded.
pub fn check_encoding(parts: &Parts) -> Result<(), UnreadableBody> {
    match parts.headers.contains_key(header::CONTENT_ENCODING) {
        true => Err(UnreadableBody::Encoded),
        false => Ok(()),
    }
}

/// Reads at most `limit` bytes of a body and stops there. Without the memory of a caller, at most 64 KiB are
/// read.
pub async fn read_body(
    parts: &Parts,
    body: Body,
    limit: usize,
    memory: Option<CallerMemory<'_>>,
) -> Result<BodyBytes, UnreadableBody> {
    in_time(parts, read_bytes(parts, body, limit, memory)).await
}

async fn in_time<T>(
    parts: &Parts,
    reading: impl Future<Output = Result<T, UnreadableBody>>,
) -> Result<T, UnreadableBody> {
    match parts.extensions.get::<Arrival>() {
        Some(arrival) => arrival.in_time(reading).await.unwrap_or(Err(UnreadableBody::Late)),
        // A route without the frame around it has no time limit.
        None => reading.await,
    }
}

/// Whether a request has no body. A body in chunks without a content type can turn out to be empty. Otherwise
/// its first bytes are lost, and the caller refuses the rest.
pub async fn is_absent(parts: &Parts, body: &mut Body) -> Result<bool, UnreadableBody> {
    if body.is_end_stream() || parts.headers.contains_key(header::CONTENT_TYPE) {
        return Ok(body.is_end_stream());
    }
    let reading = async {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| UnreadableBody::BrokenOff)?;
            if frame.data_ref().is_some_and(|data| !data.is_empty()) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    in_time(parts, reading).await
}

/// A request whose body was read and is read again.
pub fn unread(mut parts: Parts, body: BodyBytes) -> Request {
    parts.extensions.insert(IsInMemory);
    Request::from_parts(parts, Body::from(Bytes::from_owner(body)))
}

async fn read_bytes(
    parts: &Parts,
    mut body: Body,
    limit: usize,
    memory: Option<CallerMemory<'_>>,
) -> Result<BodyBytes, UnreadableBody> {
    let limit = match memory {
        Some(_) => limit,
        None => limit.min(SMALL_BODY),
    };
    let announced = parts
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(UnreadableBody::TooLarge);
    }
    let most = announced.unwrap_or(limit);
    // An announced length is not data and needs no memory.
    let mut bytes = Wiped::new(Vec::new());
    // A large body reserves memory once, for its whole size.
    let mut unreserved = memory.filter(|_| parts.extensions.get::<IsInMemory>().is_none());
    let mut share = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| UnreadableBody::BrokenOff)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let length = bytes.len().saturating_add(data.len());
        if length > limit {
            return Err(UnreadableBody::TooLarge);
        }
        if length > SMALL_BODY
            && let Some(memory) = unreserved.take()
        {
            share = Some(memory.reserve(most).await.ok_or(UnreadableBody::NoMemory)?);
        }
        append(&mut bytes, &data, most);
    }
    if bytes.len() > TINY_BODY
        && let Some(memory) = unreserved
    {
        let reserved = memory.reserve_small(bytes.len()).await;
        share = Some(reserved.ok_or(UnreadableBody::NoMemory)?);
    }
    Ok(BodyBytes::new(bytes, share))
}

/// Appends to `bytes`, which has at most `most` bytes in the end. A reallocation wipes the old memory.
fn append(bytes: &mut Wiped<Vec<u8>>, data: &[u8], most: usize) {
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
    use std::time::Duration;

    use axum::http::Request;
    use futures_util::{StreamExt as _, poll, stream};
    use uuid::Uuid;

    use super::*;
    use crate::body_memory::BodyMemory;

    /// The largest body of a batch.
    const LIMIT: usize = 33_900_000;

    fn memory() -> BodyMemory {
        BodyMemory::new(LIMIT, Duration::from_secs(3600))
    }

    async fn read_announced(
        announced: usize,
        frames: Vec<Vec<u8>>,
    ) -> Result<BodyBytes, UnreadableBody> {
        let frames = frames.into_iter().map(Ok::<_, std::io::Error>);
        let request = Request::post("/")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONTENT_LENGTH, announced)
            .body(Body::from_stream(stream::iter(frames)));
        let (parts, body) = request.unwrap().into_parts();
        let (memory, caller) = (memory(), Uuid::nil());
        read_body(&parts, body, LIMIT, Some(memory.of(caller))).await
    }

    #[tokio::test]
    async fn an_announced_length_reserves_no_memory() {
        let empty = read_announced(LIMIT, Vec::new()).await.unwrap();
        assert!(empty.capacity() <= SMALL_BODY, "{}", empty.capacity());
        let short = read_announced(LIMIT, vec![vec![7; SMALL_BODY + 1]]).await;
        let capacity = short.unwrap().capacity();
        assert!(capacity <= SMALL_BODY * GROWTH, "{capacity}");
        let refused = read_announced(LIMIT + 1, Vec::new()).await;
        assert_eq!(refused.unwrap_err(), UnreadableBody::TooLarge);
    }

    #[tokio::test]
    async fn a_large_body_grows_to_its_announced_length() {
        let frames: Vec<Vec<u8>> = (0..100).map(|n| vec![n; 10_000]).collect();
        let expected = frames.concat();
        let bytes = read_announced(expected.len(), frames).await.unwrap();
        assert_eq!(*bytes, expected);
        assert_eq!(bytes.capacity(), expected.len());
    }

    /// Whether reading a body waits for memory after `sent` bytes have arrived.
    async fn waits(memory: &BodyMemory, announced: Option<usize>, sent: usize) -> bool {
        let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
        if let Some(announced) = announced {
            request = request.header(header::CONTENT_LENGTH, announced);
        }
        let data = stream::iter([Ok::<_, std::io::Error>(vec![7; sent])]);
        let request = request.body(Body::from_stream(data.chain(stream::empty())));
        let (parts, body) = request.unwrap().into_parts();
        let mut reading = Box::pin(read_body(&parts, body, LIMIT, Some(memory.of(Uuid::nil()))));
        poll!(&mut reading).is_pending()
    }

    #[tokio::test]
    async fn a_small_body_has_memory_for_its_response() {
        let memory = memory();
        let _all = memory.of(Uuid::nil()).reserve_small(32 << 20).await;
        assert!(!waits(&memory, None, TINY_BODY).await);
        assert!(waits(&memory, None, TINY_BODY + 1).await);
    }

    #[tokio::test]
    async fn only_a_large_body_waits_for_memory() {
        let memory = memory();
        let mut shares = Vec::new();
        for _ in 0..4 {
            shares.push(memory.of(Uuid::nil()).reserve(LIMIT).await.unwrap());
        }
        for announced in [None, Some(LIMIT)] {
            assert!(!waits(&memory, announced, SMALL_BODY).await, "{announced:?}");
            assert!(waits(&memory, announced, SMALL_BODY + 1).await, "{announced:?}");
        }
        drop(shares);
        assert!(!waits(&memory, None, SMALL_BODY + 1).await);
    }

    #[tokio::test]
    async fn a_body_that_is_read_again_needs_no_other_memory() {
        let memory = memory();
        let mine = memory.of(Uuid::nil());
        let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
        let request = request.body(Body::from(vec![7; LIMIT])).unwrap();
        let (parts, body) = request.into_parts();
        let body = read_body(&parts, body, LIMIT, Some(mine)).await.unwrap();
        let mut others = Vec::new();
        for _ in 0..3 {
            others.push(mine.reserve(LIMIT).await.unwrap());
        }
        assert!(poll!(Box::pin(mine.reserve(LIMIT))).is_pending());
        let (parts, body) = unread(parts, body).into_parts();
        let again = read_body(&parts, body, LIMIT, Some(mine)).await.unwrap();
        assert_eq!(again.len(), LIMIT);
        assert!(mine.reserve(LIMIT).await.is_some());
    }

    #[tokio::test]
    async fn without_a_caller_a_body_is_small() {
        for (length, expected) in
            [(SMALL_BODY, Ok(SMALL_BODY)), (SMALL_BODY + 1, Err(UnreadableBody::TooLarge))]
        {
            let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
            let request = request.body(Body::from(vec![7; length])).unwrap();
            let (parts, body) = request.into_parts();
            let body = read_body(&parts, body, LIMIT, None).await;
            assert_eq!(body.map(|body| body.len()), expected);
        }
    }

    #[test]
    fn a_small_body_has_one_allocation() {
        let mut bytes = Wiped::new(Vec::with_capacity(SMALL_BODY));
        let place = bytes.as_ptr();
        for _ in 0..64 {
            append(&mut bytes, &[7; 1024], SMALL_BODY);
        }
        assert_eq!((bytes.len(), bytes.as_ptr()), (SMALL_BODY, place));
    }
}
