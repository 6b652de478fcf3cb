//! The response to a runtime request.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use crate::audit::Unrecorded;
use crate::http::error::ApiError;
use crate::protection::Answer;
use crate::ratelimit::Standing;
use crate::telemetry::step;
use crate::web::write_rate_limit;

/// The response for a recorded answer, or for a record that could not be written.
pub(super) fn respond(answered: Result<Answer, Unrecorded>, standing: Standing) -> Response {
    let step = step!("answer").entered();
    let mut response = match answered.map(Answer::into_outcome) {
        Ok(Ok(body)) => {
            // The buffer is sent without a copy, and wipes itself afterwards.
            let mut response = Response::new(Body::from(Bytes::from_owner(body)));
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(refusal)) => ApiError::from(refusal).into_response(),
        Err(unrecorded) => ApiError::from(unrecorded).into_response(),
    };
    write_rate_limit(standing, response.headers_mut());
    step.exit();
    response
}
