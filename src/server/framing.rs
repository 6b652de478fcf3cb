//! Headers of requests that are refused, mainly because two readers may read them differently.

use axum::body::Body;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, Response, StatusCode, Version, header};

use engine::web::RefusedHead;

/// Why a request is refused. A clear request has no `Transfer-Encoding` or `chunked`, and one `Host`,
/// which HTTP/1.0 may lack.
pub(super) fn refused_head<B>(request: &Request<B>) -> Option<RefusedHead> {
    let mut encodings = request.headers().get_all(header::TRANSFER_ENCODING).iter();
    let is_length_clear = match (encodings.next(), encodings.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let is_one_host = match (hosts.next(), hosts.next()) {
        (None, _) => request.version() != Version::HTTP_11,
        (Some(only), None) => is_host(only),
        (Some(_), Some(_)) => false,
    };
    let has_clear_target = request.uri().authority().is_none_or(is_host_and_port);
    match (is_length_clear, is_one_host && has_clear_target) {
        (true, true) => None,
        (false, _) => Some(RefusedHead::TransferEncoding),
        (true, false) => Some(RefusedHead::Host),
    }
}

/// Whether the value is a host with an optional port, or empty.
fn is_host(value: &HeaderValue) -> bool {
    let value = value.as_bytes();
    value.is_empty() || Authority::try_from(value).is_ok_and(|host| is_host_and_port(&host))
}

/// Whether there is no user before the host, the port is a number, and it is no list of hosts.
fn is_host_and_port(authority: &Authority) -> bool {
    let port = authority.as_str().strip_prefix(authority.host());
    let port = port.filter(|_| !authority.host().contains(','));
    port.is_some_and(|port| match port.strip_prefix(':') {
        Some(number) => number.is_empty() || number.parse::<u16>().is_ok(),
        None => port.is_empty(),
    })
}

/// A response without a body, like that to a head that cannot be parsed.
pub(super) fn refusal() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
