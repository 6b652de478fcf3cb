//! The frame around every handler: trace span, time limit, caught panics, metrics, common headers.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::Response;
use futures_util::FutureExt as _;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::Instrument as _;
use tracing::field::Empty;

use super::{Arrival, Cause, Engine, LoggedCaller, TrustedProxy};
use crate::auth::CallerId;
use crate::request_tag::RequestTag;
use crate::telemetry::{join_trace, step};

/// The header that carries the id of a request.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Why a handler returned no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResponse {
    /// It panicked.
    Panicked,
    /// It exceeded the time limit.
    TimedOut,
}

/// The API or the dashboard: how each answers where no handler did.
pub trait FrameAdapter {
    /// The response to a request whose handler failed.
    fn failed(failure: NoResponse) -> Response;

    /// Writes the error that `response` carries; returns its code for metrics.
    fn complete(response: Response, tag: &RequestTag) -> (Response, Option<&'static str>);

    /// The client's trace context that the request continues.
    fn traceparent(_: &Request) -> Option<&str> {
        None
    }
}

impl Engine {
    /// Handles one request for `route`. The frame is the outermost layer, so every response has
    /// passed through it.
    pub async fn frame<S: FrameAdapter, F>(
        &self,
        route: Option<&str>,
        tag: RequestTag,
        mut request: Request,
        handle: impl FnOnce(Request) -> F,
    ) -> Response
    where
        F: Future<Output = Response>,
    {
        let arrived = self.clock.monotonic();
        let method = request.method().clone();
        let step = step!(
            "request",
            otel.name = title(&method, route),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method.as_str(),
            http.route = route,
            http.response.status_code = Empty,
            error.type = Empty,
            sealward.request_id = tag.as_str(),
        );
        let from_proxy = request.extensions().get::<TrustedProxy>().is_some();
        let traceparent = S::traceparent(&request);
        let trace = join_trace(&step, traceparent, from_proxy, &self.entropy);
        request.extensions_mut().insert(tag.clone());
        let deadline = Instant::now() + self.settings.limits.request_timeout.0;
        let arrival = Arrival::until(deadline);
        request.extensions_mut().insert(arrival.clone());
        let caller = LoggedCaller::default();
        request.extensions_mut().insert(caller.clone());
        // The call itself is inside the future, so that its panics are caught too.
        let handled = AssertUnwindSafe(async { handle(request).await }).catch_unwind();
        let mut handled = pin!(handled.instrument(step.clone()));
        let mut outcome = timeout_at(deadline, &mut handled).await;
        if outcome.is_err() && arrival.is_awaited() {
            // The handler refuses the request, and the refusal is recorded.
            outcome = timeout(self.settings.audit.deadline.0, handled).await;
        }
        let response = match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => {
                tracing::error!(request_id = %tag, "a handler panicked; the line before shows where");
                S::failed(NoResponse::Panicked)
            }
            Err(_) => S::failed(NoResponse::TimedOut),
        };
        let (mut response, code) = S::complete(response, &tag);
        let status = response.status().as_u16();
        step.record("http.response.status_code", i64::from(status));
        step.record("error.type", code);
        if status >= 500 {
            step.record("otel.status_code", "error");
        }
        let took = self.clock.monotonic().saturating_sub(arrived);
        self.meter.count(route, method.as_str(), status, code, took);
        RequestLogLine {
            tag: &tag,
            caller: caller.get(),
            method: method.as_str(),
            route,
            status,
            code,
            cause: response.extensions_mut().remove::<Cause>(),
            trace: &trace,
            took,
        }
        .write();
        let headers = response.headers_mut();
        if let Ok(value) = HeaderValue::from_str(tag.as_str()) {
            headers.insert(X_REQUEST_ID, value);
        }
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        if method == Method::HEAD { without_body(response) } else { response }
    }
}

/// The name of the span of a request.
fn title(method: &Method, route: Option<&str>) -> String {
    match route {
        Some(route) => format!("{method} {route}"),
        None => method.to_string(),
    }
}

/// The log line of one request.
struct RequestLogLine<'a> {
    tag: &'a RequestTag,
    caller: Option<CallerId>,
    method: &'a str,
    route: Option<&'a str>,
    status: u16,
    code: Option<&'a str>,
    cause: Option<Cause>,
    trace: &'a str,
    took: Duration,
}

impl RequestLogLine<'_> {
    fn write(&self) {
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    target: "sealward::request",
                    request_id = %self.tag,
                    caller = self.caller.map(tracing::field::display),
                    method = self.method,
                    route = self.route,
                    status = self.status,
                    code = self.code,
                    cause = self.cause.as_ref().map(|Cause(cause)| cause.as_str()),
                    trace_id = self.trace,
                    duration_ms = self.took.as_micros() as f64 / 1_000.0,
                    $message
                )
            };
        }
        match self.status {
            500.. => line!(error, "request failed"),
            // A client that exceeds its limit must not flood the log.
            429 => line!(debug, "request refused"),
            400.. => line!(info, "request refused"),
            _ => line!(info, "request answered"),
        }
    }
}

/// The same response to `HEAD`. The router has done this for its own responses; errors are written
/// later.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        let header = parts.headers.entry(header::CONTENT_LENGTH);
        header.or_insert(length.into());
    }
    Response::from_parts(parts, Body::empty())
}
