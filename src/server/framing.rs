//! Heads of HTTP/1 requests that two readers may read differently.

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, Version, header};

/// Whether all readers agree on the end and the host of this request: its `Transfer-Encoding` is
/// `chunked` or absent, and it has one `Host`, which HTTP/1.0 may lack.
pub(super) fn is_clear<B>(request: &Request<B>) -> bool {
    let version = request.version();
    if version >= Version::HTTP_2 {
        return true;
    }
    let mut encodings = request.headers().get_all(header::TRANSFER_ENCODING).iter();
    let is_length_clear = match (encodings.next(), encodings.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    let is_host_clear = match request.headers().get_all(header::HOST).iter().count() {
        0 => version < Version::HTTP_11,
        hosts => hosts == 1,
    };
    is_length_clear && is_host_clear
}

/// The last response of a connection, like that to a head that cannot be parsed.
pub(super) fn refusal() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}
