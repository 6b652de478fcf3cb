//! What every page has, whatever it shows: a name for its request, a time limit, and headers that
//! keep browsers from doing anything with it but show it.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tracing::Instrument as _;
use tracing::field::Empty;

use super::app::Dashboard;
use super::fault::{self, Fault};
use super::session::Transport;
use crate::client_address::{ClientAddress, OverTls};
use crate::request_tag::RequestTag;
use crate::telemetry::step;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// No script, no style and no image of others, no frame around us, no form to elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`, which would take their origin from our own forms.
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Where a browser has come over TLS once, it comes so for a year.
const ALWAYS_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Frames one request. Outermost of all layers.
pub(super) async fn frame(
    State(dashboard): State<Dashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let arrived = dashboard.clock.monotonic();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    let given = request.headers().get(X_REQUEST_ID);
    let named = given.and_then(|name| RequestTag::from_client(name.as_bytes()).ok()?);
    let tag = named.unwrap_or_else(|| RequestTag::new(&dashboard.clock, &dashboard.entropy));
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map(|peer| peer.0.ip());
    let proxies = &dashboard.settings.http.trusted_proxies;
    let client = ClientAddress::of(peer, request.headers(), proxies);
    request.extensions_mut().insert(client);
    let transport = Transport::of(client.0, request.extensions().get::<OverTls>());
    request.extensions_mut().insert(transport);
    request.extensions_mut().insert(tag.clone());

    let step = step!(
        "request",
        method = method.as_str(),
        route,
        request_id = tag.as_str(),
        status = Empty,
    );
    let limit = dashboard.settings.limits.request_timeout.0;
    // In a future of its own, so that a panic on the way to the answer's is caught too.
    let answered = AssertUnwindSafe(async { next.run(request).await }).catch_unwind();
    let answered = answered.instrument(step.clone());
    let response = match tokio::time::timeout(limit, answered).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => panicked(),
        Err(_) => Fault::TimedOut.into_response(),
    };
    let mut response = fault::drawn(response, None, &tag);
    let status = response.status().as_u16();
    step.record("status", status);
    let took = dashboard.clock.monotonic().saturating_sub(arrived);
    let meter = &dashboard.meter;
    meter.count(route, method.as_str(), status, None, took);
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if transport == Transport::Network {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ALWAYS_TLS);
    }
    if let Ok(name) = HeaderValue::from_str(tag.as_str()) {
        headers.insert(X_REQUEST_ID, name);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What is left of a page that panicked: an answer, and a line in the log.
fn panicked() -> Response {
    tracing::error!("a page panicked: this is a defect; the line before this one tells where");
    Fault::Defect.into_response()
}
