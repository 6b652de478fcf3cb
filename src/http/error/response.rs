//! The response for an error: one format for all of them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiError;
use crate::admin::Accepted;
use crate::error_code::ErrorCode;
use engine::request_tag::RequestTag;
use formats::problem::Problem;

/// What a client learns about an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    /// The code for programs, which determines the status.
    pub(crate) code: ErrorCode,
    /// The text for people.
    pub(crate) message: Cow<'static, str>,
    /// Headers of this response alone.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of every error response.
#[derive(Serialize, ToSchema)]
#[schema(as = ErrorResponse)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody<'a> {
    error: ErrorObject<'a>,
    request_id: &'a RequestTag,
}

/// The error itself.
#[derive(Serialize, ToSchema)]
struct ErrorObject<'a> {
    /// The code, for programs.
    code: &'a str,
    /// The text for people; it may vary.
    message: &'a str,
    /// Every problem of the request, for `INVALID_REQUEST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<&'a [Problem]>,
}

impl From<ErrorCode> for Description {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: code.message().into(), headers: Vec::new() }
    }
}

impl Description {
    pub(super) fn with_message(self, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..self }
    }

    pub(super) fn retry_after(self, seconds: u64) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl ApiError {
    /// The member `error` of a response.
    pub(super) fn error_json(&self) -> String {
        let description = self.describe();
        // Serializing plain fields to memory does not fail.
        serde_json::to_string(&self.error_object(&description)).unwrap_or_default()
    }

    fn error_object<'a>(&'a self, description: &'a Description) -> ErrorObject<'a> {
        ErrorObject {
            code: description.code.name(),
            message: &description.message,
            details: self.details(),
        }
    }

    /// The response to the request with the id `tag`.
    pub(crate) fn to_response(&self, tag: &RequestTag) -> Response {
        if let Self::Proposed(proposed) = self {
            return Accepted(proposed).into_response();
        }
        let description = self.describe();
        let status = description.code.status();
        let headers: HeaderMap = description.headers.iter().cloned().collect();
        let body = ErrorBody { error: self.error_object(&description), request_id: tag };
        (status, headers, axum::Json(body)).into_response()
    }
}

/// Carries an error from a handler to the frame, which knows the request's id.
#[derive(Clone, Debug)]
pub(crate) struct CarriedError(pub(crate) Arc<ApiError>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.describe().code.status().into_response();
        response.extensions_mut().insert(CarriedError(Arc::new(self)));
        response
    }
}
