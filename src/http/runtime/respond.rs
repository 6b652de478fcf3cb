//! How an answer leaves.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use crate::audit::Unrecorded;
use crate::http::caller::tell;
use crate::http::error::Fault;
use crate::protection::Answer;
use crate::ratelimit::Standing;
use crate::telemetry::step;

/// The response for what was recorded, or for the lack of a record.
pub(super) fn respond(answered: Result<Answer, Unrecorded>, standing: Standing) -> Response {
    let step = step!("answer").entered();
    let mut response = match answered.map(Answer::into_outcome) {
        Ok(Ok(body)) => {
            // The buffer leaves as it is, and wipes itself once it has been sent.
            let mut response = Response::new(Body::from(Bytes::from_owner(body)));
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(refusal)) => Fault::from(refusal).into_response(),
        Err(unrecorded) => Fault::from(unrecorded).into_response(),
    };
    tell(standing, response.headers_mut());
    step.exit();
    response
}
