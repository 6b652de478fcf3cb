//! The response to a runtime request.

use std::sync::Arc;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use crate::error::ApiError;
use engine::audit::Unrecorded;
use engine::body_memory::BodyShare;
use engine::protection::Answer;
use engine::ratelimit::BucketState;
use engine::receive::sent;
use engine::telemetry::step;
use engine::web::write_rate_limit;

/// The response for a recorded answer, or for a record that could not be written. The share of the request
/// covers the response too.
pub(super) fn respond(
    answered: Result<Answer, Unrecorded>,
    bucket: BucketState,
    share: Option<Arc<BodyShare>>,
) -> Response {
    let step = step!("answer").entered();
    let mut response = match answered.map(Answer::into_outcome) {
        Ok(Ok(body)) => {
            let mut response = Response::new(sent(body, share));
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(refusal)) => ApiError::from(refusal).into_response(),
        Err(unrecorded) => ApiError::from(unrecorded).into_response(),
    };
    write_rate_limit(bucket, response.headers_mut());
    step.exit();
    response
}
