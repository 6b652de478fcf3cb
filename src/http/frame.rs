//! The frame of an API request: its id, its trace context and its error format.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::app::AppState;
use super::error::{ApiError, CarriedError};
use engine::client_certificates::PeerCertificate;
use engine::request_tag::{NotATag, RequestTag};
use engine::web::{
    Cause, ClientAddress, FrameAdapter, NoResponse, RefusedHead, TrustedProxy, X_REQUEST_ID,
    client_certificate,
};
use formats::problem::{Code, Problem};

/// The W3C Trace Context header, which continues a client's trace.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The JSON API, for the frame that it shares with the dashboard.
struct JsonApi;

/// Frames one request for `route`, which `handle` answers.
pub(super) async fn frame<F>(
    app: &AppState,
    route: Option<&'static str>,
    mut request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let engine = &app.engine;
    let http = &engine.settings.http;
    let client = ClientAddress::of_request(&request, &http.trusted_proxies);
    request.extensions_mut().insert(client);
    if let Some(proxy) = TrustedProxy::of_request(&request, &http.trusted_proxies) {
        request.extensions_mut().insert(proxy);
    }
    if request.extensions().get::<PeerCertificate>().is_some() {
        let certificate = client_certificate(&request, http);
        request.extensions_mut().insert(certificate);
    }
    let (tag, refused) = match request_tag(app, &request) {
        Ok(tag) => (tag, refused_head(&request)),
        Err(error) => (engine.new_request_tag(), Some(error)),
    };
    let handle = async |request| match refused {
        None => handle(request).await,
        Some(error) => error.into_response(),
    };
    engine.frame::<JsonApi, _>(route, tag, request, handle).await
}

impl FrameAdapter for JsonApi {
    fn failed(failure: NoResponse) -> Response {
        match failure {
            NoResponse::Panicked => ApiError::Internal.into_response(),
            NoResponse::TimedOut => ApiError::TimedOut.into_response(),
        }
    }

    fn complete(mut response: Response, tag: &RequestTag) -> (Response, Option<&'static str>) {
        let Some(CarriedError(error)) = response.extensions_mut().remove::<CarriedError>() else {
            return (response, None);
        };
        let mut written = error.to_response(tag);
        written.extensions_mut().insert(Cause(error.cause()));
        // Headers of layers and handlers stay: rate limits, Allow, a challenge.
        for (name, value) in response.headers() {
            if name != header::CONTENT_TYPE && name != header::CONTENT_LENGTH {
                written.headers_mut().append(name, value.clone());
            }
        }
        (written, Some(error.code().name()))
    }

    fn traceparent(request: &Request) -> Option<&str> {
        let mut given = request.headers().get_all(&TRACEPARENT).iter();
        let first = given.next()?.to_str().ok();
        first.filter(|_| given.next().is_none())
    }
}

/// The error for a request that is refused because of its headers.
fn refused_head(request: &Request) -> Option<ApiError> {
    let problem = match request.extensions().get()? {
        RefusedHead::TransferEncoding => {
            Problem::new("Transfer-Encoding", Code::Format, "must be chunked or absent")
        }
        RefusedHead::Host => {
            Problem::new("Host", Code::Format, "must be one host with an optional port")
        }
    };
    Some(ApiError::Problems(vec![problem]))
}

/// The client's id for its request, or a generated one.
fn request_tag(app: &AppState, request: &Request) -> Result<RequestTag, ApiError> {
    let mut given = request.headers().get_all(X_REQUEST_ID).iter();
    let first = given.next();
    let problem = |code| {
        let message = "must be 1 to 128 printable ASCII characters in one header";
        ApiError::Problems(vec![Problem::new("X-Request-Id", code, message)])
    };
    if given.next().is_some() {
        return Err(problem(Code::Format));
    }
    let tag = RequestTag::from_client(first.map_or(b"".as_slice(), HeaderValue::as_bytes));
    let tag = tag.map_err(|reason| match reason {
        NotATag::NotPrintable => problem(Code::Format),
        NotATag::TooLong => problem(Code::Length),
    });
    Ok(tag?.unwrap_or_else(|| app.engine.new_request_tag()))
}
