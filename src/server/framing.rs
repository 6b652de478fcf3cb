//! Heads of HTTP/1 requests that two readers may read differently.

use axum::body::Body;
use axum::http::{Request, Response, StatusCode, Version, header};

use crate::web::AmbiguousHead;

/// The header on which readers may disagree. A clear request has no `Transfer-Encoding` or `chunked`,
/// and one `Host`, which HTTP/1.0 may lack.
pub(super) fn ambiguity<B>(request: &Request<B>) -> Option<AmbiguousHead> {
    let version = request.version();
    if version >= Version::HTTP_2 {
        return None;
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
    match (is_length_clear, is_host_clear) {
        (true, true) => None,
        (false, _) => Some(AmbiguousHead::TransferEncoding),
        (true, false) => Some(AmbiguousHead::Host),
    }
}

/// A response without a body, like that to a head that cannot be parsed.
pub(super) fn refusal() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
