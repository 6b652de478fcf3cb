//! The frame of a dashboard request: its ID, and headers that restrict the page.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::app::SharedDashboard;
use super::error::{self, PageError};
use super::session::Transport;
use engine::request_tag::RequestTag;
use engine::web::{
    ClientAddress, FrameAdapter, NoResponse, OverTls, X_REQUEST_ID, client_certificate,
};

/// No scripts; styles, images and forms of this site only; no framing.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // `no-referrer` would remove the origin from forms of this site.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A browser that has used TLS once must use it for a year.
const ALWAYS_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The dashboard, for the frame that it shares with the API.
struct Pages;

/// Frames one request. The outermost layer.
pub(super) async fn frame(
    State(dashboard): State<SharedDashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    let given = request.headers().get(X_REQUEST_ID);
    let tag = given.and_then(|tag| RequestTag::from_client(tag.as_bytes()).ok()?);
    let engine = &dashboard.engine;
    let tag = tag.unwrap_or_else(|| engine.new_request_tag());
    let client = ClientAddress::of_request(&request, &engine.settings.http.trusted_proxies);
    request.extensions_mut().insert(client);
    let transport = Transport::of(client.0, request.extensions().get::<OverTls>());
    request.extensions_mut().insert(transport);
    let certificate = client_certificate(&request, &engine.settings.http);
    request.extensions_mut().insert(certificate);

    let handle = async |request| next.run(request).await;
    let framed = engine.frame::<Pages, _>(route, tag, request, handle);
    let mut response = framed.await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if transport == Transport::Network {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ALWAYS_TLS);
    }
    response
}

impl FrameAdapter for Pages {
    fn failed(failure: NoResponse) -> Response {
        match failure {
            NoResponse::Panicked => PageError::Defect.into_response(),
            NoResponse::TimedOut => PageError::TimedOut.into_response(),
        }
    }

    fn complete(response: Response, tag: &RequestTag) -> (Response, Option<&'static str>) {
        (error::render(response, None, tag), None)
    }
}
