//! The one mapping from errors to answers. An error answer has the member `errors` and no other: clients
//! take a body without it for a success, and one with further members for another error.

mod conversions;

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use engine::protection::{AnswerStatus, Refusal};
use engine::web::Cause;

use crate::key_type;
use crate::operation::Operation;

/// The text that clients match to distinguish a refusal from a failure.
pub(crate) const PERMISSION_DENIED: &str = "permission denied";

/// The longest part of an unknown path that an answer repeats.
const LONGEST_PATH: usize = 256;

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    /// The code of metrics and of audit records, as in the other API.
    pub(crate) code: &'static str,
    pub(crate) texts: Vec<String>,
    /// Why, for the log only.
    cause: Option<String>,
    /// In seconds.
    retry_after: Option<u64>,
}

/// The code of an error response, for metrics.
#[derive(Clone, Copy)]
pub(crate) struct ErrorCode(pub(crate) &'static str);

impl Refused {
    pub(crate) fn new(status: StatusCode, code: &'static str, text: impl Into<String>) -> Self {
        Self { status, code, texts: vec![text.into()], cause: None, retry_after: None }
    }

    /// A mistake of the client.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", text)
    }

    pub(crate) fn denied(code: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, PERMISSION_DENIED)
    }

    /// Something that does not exist. Clients take an empty list for that, and not for an error.
    pub(crate) fn missing() -> Self {
        let missing = Self::new(StatusCode::NOT_FOUND, "KEY_NOT_FOUND", "");
        Self { texts: Vec::new(), ..missing }
    }

    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", text)
    }

    /// A path outside this API, which names no engine.
    pub(crate) fn no_handler(path: &str) -> Self {
        let path: String = path.chars().take(LONGEST_PATH).collect();
        let text = format!("no handler for route \"{path}\". route entry not found.");
        Self::not_found(text).because(&"no such path")
    }

    /// A method that the path does not support.
    pub(crate) fn unsupported() -> Self {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Self::new(status, "METHOD_NOT_ALLOWED", "unsupported operation")
    }

    fn unavailable() -> Self {
        let text = "the service is temporarily unavailable; try again soon";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self { retry_after: Some(1), ..Self::new(status, "SERVICE_UNAVAILABLE", text) }
    }

    pub(crate) fn timed_out() -> Self {
        Self::unavailable()
    }

    pub(crate) fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "INTERNAL_ERROR", "the operation failed")
    }

    /// A client that sends too much, and can send again after these seconds.
    pub(crate) fn limited(text: &str, seconds: u64) -> Self {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Self { retry_after: Some(seconds), ..Self::new(status, "RATE_LIMIT_EXCEEDED", text) }
    }

    fn too_many(seconds: u64) -> Self {
        Self::limited("too many requests; try again later", seconds)
    }

    fn because(self, cause: &impl ToString) -> Self {
        Self { cause: Some(cause.to_string()), ..self }
    }

    /// Why `operation` is refused.
    pub(crate) fn of(operation: Operation, refusal: Refusal) -> Self {
        let texts = if let Refusal::KeyNotFound = refusal {
            vec![operation.key_not_found().to_owned()]
        } else if let Refusal::Unsupported(algorithm) = refusal {
            let name = key_type::name(algorithm).unwrap_or(algorithm.name());
            vec![operation.unsupported(name)]
        } else if let Refusal::Version(version) = refusal {
            vec![operation.version_refused(version).to_owned()]
        } else {
            return Self::from(refusal);
        };
        Self { texts, ..Self::from(refusal) }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let cause = self.cause.unwrap_or_else(|| self.texts.join("; "));
        let body = axum::Json(serde_json::json!({ "errors": self.texts }));
        let mut response = (self.status, body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::REQUEST_TIMEOUT {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        response.extensions_mut().insert(ErrorCode(self.code));
        response.extensions_mut().insert(Cause(cause));
        response
    }
}

/// The status and code of a refusal.
pub fn status_of(refusal: &Refusal) -> AnswerStatus {
    Refused::from(refusal.clone()).answer_status()
}

impl Refused {
    /// The status and the code.
    pub(crate) fn answer_status(&self) -> AnswerStatus {
        (self.status.as_u16(), self.code)
    }

    /// What the audit log says about an unauthenticated request.
    pub(crate) fn message(&self) -> Cow<'static, str> {
        self.texts.join("; ").into()
    }
}
