//! The frame of an API request: its id, its trace context and its error format.

use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::app::AppState;
use super::error::{ApiError, CarriedError};
use engine::receive::{note_client, refused_head, request_tag, traceparent};
use engine::request_tag::RequestTag;
use engine::web::{Cause, FrameAdapter, NoResponse};

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
    note_client(engine, &mut request);
    let (tag, refused) = match request_tag(engine, &request) {
        Ok(tag) => (tag, refused_head(&request)),
        Err(problem) => (engine.new_request_tag(), Some(problem)),
    };
    let handle = async |request| match refused {
        None => handle(request).await,
        Some(problem) => ApiError::Problems(vec![problem]).into_response(),
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
        traceparent(request)
    }
}
