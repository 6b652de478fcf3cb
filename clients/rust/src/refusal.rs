//! Error responses.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ErrorKind;
use crate::open_set::open_set;

/// An error response.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{status}{}: {message}{}{}", finality(*kind), code_text(code.as_ref()), problems(details), of_request(request_id.as_deref()))]
#[non_exhaustive]
pub struct Refusal {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The HTTP status.
    pub status: u16,
    /// What Sealward refuses. A response of a proxy has no code.
    pub code: Option<Code>,
    /// A text for people.
    pub message: String,
    /// The problems of the request.
    pub details: Vec<Problem>,
    /// The ID of the request, which the log and the audit log contain.
    pub request_id: Option<String>,
    /// After which time the request can succeed.
    pub retry_after: Option<Duration>,
}

fn finality(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::DecryptionFailed => "cannot be decrypted, and repeating does not help: ",
        _ => "",
    }
}

fn code_text(code: Option<&Code>) -> String {
    code.map(|code| format!(" {code}")).unwrap_or_default()
}

fn problems(details: &[Problem]) -> String {
    details.iter().map(|it| format!("; {}: {}", it.field, it.message)).collect()
}

pub(crate) fn of_request(id: Option<&str>) -> String {
    id.map(|id| format!(" (request {id})")).unwrap_or_default()
}

/// A problem of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// The member, or an empty text for the complete body.
    pub field: String,
    /// The kind of the problem, such as `required`.
    pub code: String,
    /// A text for people.
    pub message: String,
}

open_set! {
    /// The codes of error responses.
    Code {
        InvalidRequest = "INVALID_REQUEST",
        InvalidProtectedPayload = "INVALID_PROTECTED_PAYLOAD",
        UnprotectNotAvailable = "UNPROTECT_NOT_AVAILABLE",
        DecryptionFailed = "DECRYPTION_FAILED",
        AuthenticationFailed = "AUTHENTICATION_FAILED",
        Forbidden = "FORBIDDEN",
        OperationNotAllowed = "OPERATION_NOT_ALLOWED",
        PolicyNotActive = "POLICY_NOT_ACTIVE",
        ServiceFrozen = "SERVICE_FROZEN",
        NotFound = "NOT_FOUND",
        ServiceNotFound = "SERVICE_NOT_FOUND",
        PolicyNotFound = "POLICY_NOT_FOUND",
        KeyNotFound = "KEY_NOT_FOUND",
        ApiKeyNotFound = "API_KEY_NOT_FOUND",
        IdentityNotFound = "IDENTITY_NOT_FOUND",
        ChangeNotFound = "CHANGE_NOT_FOUND",
        MethodNotAllowed = "METHOD_NOT_ALLOWED",
        RequestTimeout = "REQUEST_TIMEOUT",
        Conflict = "CONFLICT",
        PreconditionFailed = "PRECONDITION_FAILED",
        PayloadTooLarge = "PAYLOAD_TOO_LARGE",
        UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE",
        RateLimitExceeded = "RATE_LIMIT_EXCEEDED",
        DestinationKeyNotFound = "DESTINATION_KEY_NOT_FOUND",
        InternalError = "INTERNAL_ERROR",
        ServiceUnavailable = "SERVICE_UNAVAILABLE",
    }
}
