//! A complete response.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{HeaderMap, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::REQUEST_ID;
use crate::error::{Error, ErrorKind};
use crate::payload::Wiped;
use crate::refusal::{Code, Problem, Refusal};

/// The memory for a body before it arrives, at most.
const MOST_RESERVED: usize = 1 << 20;

/// A complete response. Its body is wiped when dropped.
pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Zeroizing<Vec<u8>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErrorResponse {
    error: ErrorObject,
    request_id: Option<String>,
}

/// The member `error` of a response or of an item.
#[derive(Deserialize)]
pub(crate) struct ErrorObject {
    code: Code,
    message: String,
    #[serde(default)]
    details: Vec<Problem>,
}

impl ErrorObject {
    pub(crate) fn into_error(self, status: u16, opens: bool, request_id: Option<String>) -> Error {
        Error::Refused(Box::new(Refusal {
            kind: kind(status, Some(&self.code), opens),
            status,
            code: Some(self.code),
            message: self.message,
            details: self.details,
            request_id,
            retry_after: None,
        }))
    }
}

impl Answer {
    pub(super) async fn read(response: Response<Incoming>) -> hyper::Result<Self> {
        let (head, mut incoming) = response.into_parts();
        // A length that is not true costs no more than this.
        let stated = usize::try_from(incoming.size_hint().lower()).unwrap_or(usize::MAX);
        let mut body = Wiped::with_capacity(stated.min(MOST_RESERVED));
        while let Some(frame) = incoming.frame().await {
            if let Ok(data) = frame?.into_data() {
                body.extend(&data);
            }
        }
        Ok(Self { status: head.status, headers: head.headers, body: body.0 })
    }

    pub(crate) fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status.is_success()
    }

    pub(super) fn is_error_response(&self) -> bool {
        serde_json::from_slice::<ErrorResponse>(&self.body).is_ok()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.body).map_err(|_| self.unexpected())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The body as a value of the API.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        // The reason could quote the body.
        serde_json::from_slice(&self.body).map_err(|_| self.unexpected())
    }

    /// The error of a success that is not as documented.
    pub(crate) fn unexpected(&self) -> Error {
        let request_id = self.header(REQUEST_ID.as_str()).map(ToOwned::to_owned);
        Error::Unexpected { status: self.status(), request_id }
    }

    /// The error of a status that is not a success.
    pub(super) fn into_error(self, opens: bool) -> Error {
        let status = self.status();
        if status < 400 {
            return self.unexpected();
        }
        let request_id = self.header(REQUEST_ID.as_str()).map(ToOwned::to_owned);
        let retry_after = self.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|text| text.trim().parse().ok());
        let stated = serde_json::from_slice::<ErrorResponse>(&self.body).ok();
        let (code, message, details, stated_id) = match stated {
            Some(ErrorResponse { error, request_id }) => {
                (Some(error.code), error.message, error.details, request_id)
            }
            None => (None, "the response is not from Sealward".to_owned(), Vec::new(), None),
        };
        Error::Refused(Box::new(Refusal {
            kind: kind(status, code.as_ref(), opens),
            status,
            code,
            message,
            details,
            request_id: stated_id.or(request_id),
            retry_after: retry_after.map(Duration::from_secs),
        }))
    }
}

fn kind(status: u16, code: Option<&Code>, opens: bool) -> ErrorKind {
    match (status, code) {
        (_, Some(Code::DecryptionFailed)) => ErrorKind::DecryptionFailed,
        (500, Some(Code::InternalError)) if opens => ErrorKind::DecryptionFailed,
        (403, Some(Code::PolicyNotActive)) => ErrorKind::PolicyNotActive,
        (403, Some(Code::ServiceFrozen)) => ErrorKind::Frozen,
        (400, _) => ErrorKind::InvalidRequest,
        (401, _) => ErrorKind::AuthenticationFailed,
        (403, _) => ErrorKind::NotAllowed,
        (404, _) => ErrorKind::NotFound,
        (409, _) => ErrorKind::Conflict,
        (412, _) => ErrorKind::PreconditionFailed,
        (413, _) => ErrorKind::PayloadTooLarge,
        (429, _) => ErrorKind::RateLimited,
        (500, _) => ErrorKind::ServerError,
        (502..=504, _) => ErrorKind::Unavailable,
        _ => ErrorKind::ApiError,
    }
}
