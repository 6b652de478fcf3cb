//! What each request has: the address and the certificate of its client, its identifier, its trace.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};

use crate::client_certificates::PeerCertificate;
use crate::request_tag::{NotATag, RequestTag};
use crate::web::{
    ClientAddress, Engine, RefusedHead, TrustedProxy, X_REQUEST_ID, client_certificate,
};
use formats::problem::{Code, Problem};

/// The W3C Trace Context header, which continues a client's trace.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Notes the address and the certificate of the client of a request.
pub fn note_client(engine: &Engine, request: &mut Request) {
    let http = &engine.settings.http;
    let client = ClientAddress::of_request(request, &http.trusted_proxies);
    request.extensions_mut().insert(client);
    if let Some(proxy) = TrustedProxy::of_request(request, &http.trusted_proxies) {
        request.extensions_mut().insert(proxy);
    }
    if request.extensions().get::<PeerCertificate>().is_some() {
        let certificate = client_certificate(request, http);
        request.extensions_mut().insert(certificate);
    }
}

/// The client's trace context that the request continues.
pub fn traceparent(request: &Request) -> Option<&str> {
    let mut given = request.headers().get_all(&TRACEPARENT).iter();
    let first = given.next()?.to_str().ok();
    first.filter(|_| given.next().is_none())
}

/// The problem of a request that is refused because of its headers.
pub fn refused_head(request: &Request) -> Option<Problem> {
    Some(match request.extensions().get()? {
        RefusedHead::TransferEncoding => {
            Problem::new("Transfer-Encoding", Code::Format, "must be chunked or absent")
        }
        RefusedHead::Host => {
            Problem::new("Host", Code::Format, "must be one host with an optional port")
        }
    })
}

/// The client's id for its request, or a generated one.
pub fn request_tag(engine: &Engine, request: &Request) -> Result<RequestTag, Problem> {
    let mut given = request.headers().get_all(X_REQUEST_ID).iter();
    let first = given.next();
    let problem = |code| {
        let message = "must be 1 to 128 printable ASCII characters in one header";
        Problem::new("X-Request-Id", code, message)
    };
    if given.next().is_some() {
        return Err(problem(Code::Format));
    }
    let tag = RequestTag::from_client(first.map_or(b"".as_slice(), HeaderValue::as_bytes));
    let tag = tag.map_err(|reason| match reason {
        NotATag::NotPrintable => problem(Code::Format),
        NotATag::TooLong => problem(Code::Length),
    });
    Ok(tag?.unwrap_or_else(|| engine.new_request_tag()))
}
