//! The one mapping from errors to answers. An error answer has the member `errors` and no other: clients
//! take a body without it for a success, and one with further members for another error.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hsm::ErrorKind;

use engine::audit::{self, Outcome, Unrecorded};
use engine::auth::WrongKind;
use engine::catalog::Unreadable;
use engine::floor::Breach;
use engine::keys::KeyStatus;
use engine::management;
use engine::policy::NotAllowed;
use engine::protection::{RecordedStatus, Refusal};
use engine::ratelimit::Exceeded;
use engine::web::{Cause, Unauthenticated, UnreadableBody};
use formats::json::NotJson;
use formats::problem::{Problem, Problems};

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

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::UnreadableBody(unread) => unread.into(),
            Refusal::NotJson(error) => error.into(),
            Refusal::WrongKind(wrong) => wrong.into(),
            Refusal::Limited(exceeded) => exceeded.into(),
            Refusal::Problems(problems) => problems.into(),
            Refusal::NotAllowed(NotAllowed::Frozen(_)) => {
                Self::denied("SERVICE_FROZEN").because(&refusal)
            }
            Refusal::NotAllowed(NotAllowed::ByFloor(breach)) => breach.into(),
            Refusal::NotAllowed(_)
            | Refusal::KeyState(
                KeyStatus::Active
                | KeyStatus::Retired
                | KeyStatus::Disabled
                | KeyStatus::PendingDestruction
                | KeyStatus::Destroyed,
            )
            | Refusal::KeyExpired
            | Refusal::KeySpent => Self::denied("OPERATION_NOT_ALLOWED").because(&refusal),
            Refusal::KeyNotFound => {
                Self::new(StatusCode::BAD_REQUEST, "KEY_NOT_FOUND", "key not found")
            }
            Refusal::NamespaceNotFound => Self::not_found("namespace not found"),
            Refusal::Version(_) | Refusal::Unsupported(_) => Self::invalid(refusal.to_string()),
            Refusal::DecryptionFailed => {
                let text = "cipher: message authentication failed";
                Self::new(StatusCode::BAD_REQUEST, "DECRYPTION_FAILED", text)
            }
            Refusal::Unauthenticated(refused) => {
                Self::denied("AUTHENTICATION_FAILED").because(&refused)
            }
            Refusal::TokenOut(error) | Refusal::KeyUnusable(error) => {
                Self::unavailable().because(&error.report())
            }
            Refusal::Token(error) => Self::internal().because(&error.report()),
            // The client that left receives no answer.
            Refusal::NotBegun
            | Refusal::QueueFull
            | Refusal::Unchecked
            | Refusal::TimedOut { .. }
            | Refusal::ClientLeft { .. } => Self::unavailable().because(&refusal),
            Refusal::Unreadable(unreadable) => unreadable.into(),
            // Operations here have no envelopes and no policies.
            Refusal::InvalidProtectedPayload(_)
            | Refusal::PolicyNotFound
            | Refusal::UnprotectNotAvailable(_)
            | Refusal::PolicyNotActive
            | Refusal::DestinationKeyNotFound
            | Refusal::Unopenable
            | Refusal::Unsealed(_)
            | Refusal::Unwritten => Self::internal().because(&refusal),
        }
    }
}

/// What the settings do not allow is no secret, and a client cannot find it out otherwise.
impl From<Breach> for Refused {
    fn from(breach: Breach) -> Self {
        let text = format!("{PERMISSION_DENIED}: {breach}");
        Self::new(StatusCode::FORBIDDEN, "OPERATION_NOT_ALLOWED", text)
    }
}

impl From<UnreadableBody> for Refused {
    fn from(unread: UnreadableBody) -> Self {
        let (status, code) = match unread {
            UnreadableBody::OtherMedia | UnreadableBody::Encoded => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE")
            }
            UnreadableBody::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
            UnreadableBody::BrokenOff => (StatusCode::BAD_REQUEST, "INVALID_REQUEST"),
            UnreadableBody::NoMemory => return Self::unavailable().because(&unread),
            UnreadableBody::Late => (StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT"),
        };
        Self::new(status, code, unread.to_string())
    }
}

impl From<NotJson> for Refused {
    fn from(error: NotJson) -> Self {
        Self::invalid(format!("failed to decode JSON input: {error}"))
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Problems::from(problem).into()
    }
}

impl From<Problems> for Refused {
    fn from(problems: Problems) -> Self {
        let texts = problems.as_slice().iter().map(|problem| match problem.field.is_empty() {
            true => problem.message.clone().into_owned(),
            false => format!("{} {}", problem.field, problem.message),
        });
        Self { texts: texts.collect(), ..Self::invalid("") }
    }
}

impl From<WrongKind> for Refused {
    fn from(wrong: WrongKind) -> Self {
        Self::denied("FORBIDDEN").because(&wrong)
    }
}

impl From<Exceeded> for Refused {
    fn from(exceeded: Exceeded) -> Self {
        Self::too_many(exceeded.retry_after.as_secs().saturating_add(1))
    }
}

impl From<Unreadable> for Refused {
    fn from(unreadable: Unreadable) -> Self {
        Self::unavailable().because(&unreadable)
    }
}

impl From<Unrecorded> for Refused {
    fn from(unrecorded: Unrecorded) -> Self {
        Self::unavailable().because(&unrecorded)
    }
}

impl From<Unauthenticated> for Refused {
    fn from(refused: Unauthenticated) -> Self {
        match refused {
            Unauthenticated::Refused(refusal) => {
                Self::denied("AUTHENTICATION_FAILED").because(&refusal)
            }
            Unauthenticated::Limited(exceeded) => exceeded.into(),
            Unauthenticated::Unreadable(unreadable) => unreadable.into(),
            Unauthenticated::Crowded => Self::too_many(1),
        }
    }
}

impl From<management::Error> for Refused {
    fn from(error: management::Error) -> Self {
        use management::Error;
        match error {
            Error::Invalid(problems) => problems.into(),
            Error::Missing(_) => Self::missing(),
            Error::Conflict(conflict) => Self::invalid(conflict),
            Error::Outdated => Self::invalid(error.to_string()),
            Error::Unauthenticated => Self::denied("AUTHENTICATION_FAILED").because(&error),
            Error::Forbidden(_) | Error::NotAnApprover(_) => {
                Self::denied("FORBIDDEN").because(&error)
            }
            Error::Proposed(proposed) => {
                let id = proposed.proposal.id;
                let text = format!("{PERMISSION_DENIED}: change {id} waits for approval");
                Self::new(StatusCode::FORBIDDEN, "FORBIDDEN", text)
            }
            Error::NotAllowed(why) => {
                let text = format!("{PERMISSION_DENIED}: {why}");
                Self::new(StatusCode::FORBIDDEN, "OPERATION_NOT_ALLOWED", text)
            }
            Error::BelowFloor(breach) => breach.into(),
            Error::Token(error) => match error.kind() {
                ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late | ErrorKind::Unusable => {
                    Self::unavailable().because(&error.report())
                }
                ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Refused => {
                    Self::internal().because(&error.report())
                }
            },
            Error::BrokenOff => Self::internal(),
            Error::Database(error) => Unreadable::from(error).into(),
        }
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

/// The status of a request whose client closed the connection before the response. No response has it.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// The status of a refusal, or of a success, as the audit log records it.
pub fn recorded_status(refusal: Option<&Refusal>) -> RecordedStatus {
    match refusal {
        None => {
            RecordedStatus { number: StatusCode::OK.as_u16(), code: None, outcome: Outcome::Done }
        }
        Some(Refusal::ClientLeft { .. }) => RecordedStatus {
            number: CLIENT_CLOSED_REQUEST,
            code: Some(audit::CLIENT_CLOSED_REQUEST),
            outcome: Outcome::Failed,
        },
        Some(refusal) => Refused::from(refusal.clone()).recorded(),
    }
}

impl Refused {
    /// The status as the audit log records it.
    pub(crate) fn recorded(&self) -> RecordedStatus {
        let is_failed = self.status.is_server_error() || self.code == "DECRYPTION_FAILED";
        RecordedStatus {
            number: self.status.as_u16(),
            code: Some(self.code),
            outcome: if is_failed { Outcome::Failed } else { Outcome::Refused },
        }
    }

    /// What the audit log says about an unauthenticated request.
    pub(crate) fn message(&self) -> Cow<'static, str> {
        self.texts.join("; ").into()
    }
}
