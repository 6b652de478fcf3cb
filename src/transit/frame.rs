//! The frame of a request, and the headers that each request is held to.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::errors::{ErrorCode, Refused};
use engine::receive::traceparent;
use engine::request_tag::RequestTag;
use engine::web::{FrameAdapter, NoResponse};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const WRAP_TTL: HeaderName = HeaderName::from_static("x-vault-wrap-ttl");

/// This API, for the frame that all APIs share.
pub(crate) struct TransitFrame;

impl FrameAdapter for TransitFrame {
    fn failed(failure: NoResponse) -> Response {
        match failure {
            NoResponse::Panicked => Refused::internal().into_response(),
            NoResponse::TimedOut => Refused::timed_out().into_response(),
        }
    }

    fn complete(mut response: Response, _: &RequestTag) -> (Response, Option<&'static str>) {
        let code = response.extensions_mut().remove::<ErrorCode>();
        (response, code.map(|ErrorCode(code)| code))
    }

    fn traceparent(request: &Request) -> Option<&str> {
        traceparent(request)
    }
}

/// Refuses requests that a page of another site has a browser send.
pub(crate) fn check_site(headers: &HeaderMap) -> Result<(), Refused> {
    let is_own = |site: &[u8]| site == b"none" || site == b"same-origin";
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    if headers.contains_key(header::ORIGIN) || !sites.all(|site| is_own(site.as_bytes())) {
        return Err(Refused::denied("FORBIDDEN"));
    }
    Ok(())
}

/// Refuses to wrap an answer, because the caller would take the answer itself for a wrapping token.
pub(crate) fn check_wrapping(headers: &HeaderMap) -> Result<(), Refused> {
    let is_none = |ttl: &[u8]| matches!(ttl.trim_ascii(), b"" | b"0" | b"0s");
    let mut ttls = headers.get_all(WRAP_TTL).iter();
    if ttls.all(|ttl| is_none(ttl.as_bytes())) {
        return Ok(());
    }
    let text = "response wrapping is not supported";
    Err(Refused::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", text))
}
