//! What every request and every answer has, whatever its route: a name, an address, a time limit,
//! one form of error.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;

use axum::body::{Body, HttpBody as _};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use tracing::Instrument as _;
use tracing::field::Empty;

use super::app::App;
use super::error::{Carried, Fault};
use crate::client_address::ClientAddress;
use crate::problem::{Code, Problem};
use crate::request_tag::{NotATag, RequestTag};
use crate::telemetry::step;

/// The header by which clients name their requests.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header by which a client's own trace is continued (W3C Trace Context).
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Frames one request for `route`, which `answer` gives the answer to. Nothing is around it, so that
/// no answer leaves without it.
pub(super) async fn frame<F>(
    app: &App,
    route: Option<&'static str>,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let arrived = app.clock.monotonic();
    let method = request.method().clone();
    let named = name(app, &request);
    let tag = match &named {
        Ok(tag) => tag.clone(),
        Err(_) => RequestTag::new(&app.clock, &app.entropy),
    };
    let step = step!(
        "request",
        method = method.as_str(),
        route,
        traceparent = text_of(&request, &TRACEPARENT),
        request_id = tag.as_str(),
        status = Empty,
        code = Empty,
    );
    let response = match named {
        Ok(_) => {
            let peer = request
                .extensions()
                .get::<ConnectInfo<SocketAddr>>()
                .map(|peer| peer.0.ip());
            let client =
                ClientAddress::of(peer, request.headers(), &app.settings.http.trusted_proxies);
            request.extensions_mut().insert(client);
            request.extensions_mut().insert(tag.clone());
            // In a future of its own, so that a panic on the way to the answer's is caught too.
            let answered = AssertUnwindSafe(async { answer(request).await }).catch_unwind();
            let answered = answered.instrument(step.clone());
            match tokio::time::timeout(app.settings.limits.request_timeout.0, answered).await {
                Ok(Ok(response)) => response,
                Ok(Err(_)) => panicked(),
                Err(_) => Fault::TimedOut.into_response(),
            }
        }
        Err(fault) => fault.into_response(),
    };
    let code = response.extensions().get::<Carried>();
    let code = code.map(|Carried(fault)| fault.told().code.name());
    step.record("status", response.status().as_u16());
    step.record("code", code);
    app.meter.count(
        route,
        method.as_str(),
        response.status().as_u16(),
        code,
        app.clock.monotonic().saturating_sub(arrived),
    );
    let response = finish(response, &tag);
    if method == Method::HEAD {
        without_body(response)
    } else {
        response
    }
}

/// A header that is there once, and text.
fn text_of<'a>(request: &'a Request, name: &HeaderName) -> Option<&'a str> {
    let mut given = request.headers().get_all(name).iter();
    let first = given.next()?.to_str().ok();
    first.filter(|_| given.next().is_none())
}

fn name(app: &App, request: &Request) -> Result<RequestTag, Fault> {
    let mut given = request.headers().get_all(X_REQUEST_ID).iter();
    let first = given.next();
    let problem = |code| {
        let message = "use 1 to 128 printable ASCII characters, in one header";
        Fault::Problems(vec![Problem::new("X-Request-Id", code, message)])
    };
    if given.next().is_some() {
        return Err(problem(Code::Format));
    }
    let client = RequestTag::from_client(first.map_or(b"".as_slice(), HeaderValue::as_bytes));
    let client = client.map_err(|reason| match reason {
        NotATag::NotPrintable => problem(Code::Format),
        NotATag::TooLong => problem(Code::Length),
    });
    Ok(client?.unwrap_or_else(|| RequestTag::new(&app.clock, &app.entropy)))
}

/// Writes the fault that the response carries, if it does, and the request's name.
fn finish(mut response: Response, tag: &RequestTag) -> Response {
    if let Some(Carried(fault)) = response.extensions_mut().remove::<Carried>() {
        if response.status().is_server_error() {
            tracing::error!(request_id = %tag, cause = %fault.cause(), "request failed");
        } else if matches!(*fault, Fault::RateLimited(_)) {
            // Whoever sends too much would fill the log, too.
            tracing::debug!(request_id = %tag, cause = %fault.cause(), "request refused");
        } else {
            tracing::info!(request_id = %tag, cause = %fault.cause(), "request refused");
        }
        let (parts, _) = response.into_parts();
        response = fault.answer(tag);
        // What layers and handlers added stays: the limits, Allow, a challenge.
        for (name, value) in &parts.headers {
            if name != header::CONTENT_TYPE && name != header::CONTENT_LENGTH {
                response.headers_mut().append(name, value.clone());
            }
        }
    }
    if let Ok(value) = HeaderValue::from_str(tag.as_str()) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The same answer to `HEAD`. The router has done so with its own answers, whose length it told; it
/// knows no faults, and HTTP/2 would send what they say.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        let told = parts.headers.entry(header::CONTENT_LENGTH);
        told.or_insert(length.into());
    }
    Response::from_parts(parts, Body::empty())
}

/// What is left of a handler that panicked: an answer, and a line in the log.
fn panicked() -> Response {
    tracing::error!("a handler panicked: this is a defect; the line before this one tells where");
    Fault::Internal.into_response()
}
