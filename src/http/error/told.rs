//! How a client is told of a fault: one form for all of them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::Fault;
use crate::http::error_code::ErrorCode;
use crate::problem::Problem;
use crate::request_tag::RequestTag;

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct Told {
    /// The code for programs, which brings its status.
    pub(in crate::http) code: ErrorCode,
    /// The text for people.
    pub(in crate::http) message: Cow<'static, str>,
    /// Headers that belong to this answer alone.
    pub(in crate::http) headers: Vec<(HeaderName, HeaderValue)>,
}

/// What every refusal looks like.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Refused<'a> {
    error: Reason<'a>,
    request_id: &'a RequestTag,
}

/// What is wrong.
#[derive(Serialize, ToSchema)]
struct Reason<'a> {
    /// For programs.
    code: &'a str,
    /// For people; it may vary.
    message: &'a str,
    /// Everything that is wrong with the request, where that is what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<&'a [Problem]>,
}

impl From<ErrorCode> for Told {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            message: code.message().into(),
            headers: Vec::new(),
        }
    }
}

impl Told {
    pub(super) fn saying(self, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            ..self
        }
    }

    pub(super) fn retry_after(self, seconds: u64) -> Self {
        self.with(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl Fault {
    /// The whole answer to the request called `tag`.
    pub(in crate::http) fn answer(&self, tag: &RequestTag) -> Response {
        let told = self.told();
        let status = told.code.status();
        let headers: HeaderMap = told.headers.into_iter().collect();
        let body = Refused {
            error: Reason {
                code: told.code.name(),
                message: &told.message,
                details: self.details(),
            },
            request_id: tag,
        };
        (status, headers, axum::Json(body)).into_response()
    }
}

/// Carries a fault from a handler to the frame, which knows the request's name.
#[derive(Clone, Debug)]
pub(in crate::http) struct Carried(pub(in crate::http) Arc<Fault>);

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.told().code.status().into_response();
        response.extensions_mut().insert(Carried(Arc::new(self)));
        response
    }
}
