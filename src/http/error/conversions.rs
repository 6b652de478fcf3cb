//! Conversions from the errors of lower modules.

use std::borrow::Cow;
use std::sync::Arc;

use hsm::ErrorKind;

use super::ApiError;
use engine::audit::Unrecorded;
use engine::auth::{CredentialRefused, WrongKind};
use engine::catalog::Unreadable;
use engine::management::{self, ResourceType};
use engine::policy::NotAllowed;
use engine::protection::{self, AnswerStatus};
use engine::ratelimit::{Crowded, Exceeded};
use engine::reports::NotReported;
use engine::web::UnreadableBody;
use formats::json::NotJson;
use formats::problem::{Code, Problem};

impl ApiError {
    /// One problem with the body as a whole.
    pub(crate) fn of_body(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Problems(vec![Problem::of_body(code, message)])
    }
}

impl From<management::Error> for ApiError {
    fn from(error: management::Error) -> Self {
        match error {
            management::Error::Invalid(problems) => Self::Problems(problems.into_vec()),
            management::Error::Missing(missing) => Self::Missing(missing),
            management::Error::Conflict(conflict) => Self::Conflict(conflict),
            management::Error::Outdated => Self::Outdated,
            management::Error::Forbidden(_) => Self::MissingRole(error.to_string()),
            management::Error::NotAnApprover(_) => Self::NotAnApprover(error.to_string()),
            management::Error::Proposed(proposed) => Self::Proposed(Arc::new(*proposed)),
            management::Error::NotAllowed(why) => Self::NotAllowed(why.to_owned()),
            management::Error::BelowFloor(breach) => Self::NotAllowed(breach.to_string()),
            management::Error::Token(error) => match error.kind() {
                ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late | ErrorKind::Unusable => {
                    Self::TokenOut(error)
                }
                ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Refused => {
                    Self::Token(error)
                }
            },
            management::Error::Unauthenticated => Self::Unauthenticated(CredentialRefused::Revoked),
            management::Error::BrokenOff => Self::Internal,
            management::Error::Database(error) => Self::Database(Arc::new(error)),
        }
    }
}

impl From<NotReported> for ApiError {
    fn from(error: NotReported) -> Self {
        match error {
            NotReported::NoKey | NotReported::NoLogs | NotReported::Deviating => {
                Self::Conflict(error.to_string())
            }
            NotReported::Behind => Self::Unavailable,
            NotReported::Invalid(problem) => Self::Problems(vec![problem]),
            NotReported::Token(error) => management::Error::Token(error).into(),
            NotReported::Database(error) => Unreadable::from(error).into(),
        }
    }
}

impl From<protection::Refusal> for ApiError {
    fn from(refusal: protection::Refusal) -> Self {
        use protection::Refusal;
        match refusal {
            Refusal::UnreadableBody(unread) => unread.into(),
            Refusal::NotJson(error) => error.into(),
            Refusal::WrongKind(wrong) => wrong.into(),
            Refusal::Limited(exceeded) => exceeded.into(),
            Refusal::Problems(problems) => Self::Problems(problems.into_vec()),
            Refusal::InvalidProtectedPayload(_) => Self::InvalidProtectedPayload,
            Refusal::PolicyNotFound => Self::Missing(ResourceType::Policy),
            Refusal::NotAllowed(NotAllowed::Frozen(frozen)) => Self::Frozen(frozen),
            Refusal::NotAllowed(_)
            | Refusal::KeyState(_)
            | Refusal::KeyExpired
            | Refusal::KeySpent => Self::NotAllowed(refusal.to_string()),
            Refusal::UnprotectNotAvailable(_) => Self::UnprotectNotAvailable,
            Refusal::PolicyNotActive => Self::PolicyNotActive,
            Refusal::DestinationKeyNotFound => Self::DestinationKeyNotFound,
            Refusal::KeyNotFound => Self::Missing(ResourceType::Key),
            Refusal::NamespaceNotFound => Self::NotFound,
            Refusal::Version(_) | Refusal::Unsupported(_) => {
                Self::of_body(Code::Unsupported, refusal.to_string())
            }
            Refusal::DecryptionFailed => Self::DecryptionFailed,
            Refusal::Unopenable => Self::Failed("the envelope does not open"),
            Refusal::Unsealed(_) => Self::Failed("no envelope could be made"),
            Refusal::Unwritten => Self::Internal,
            Refusal::Token(error) => Self::Token(error),
            Refusal::TokenOut(error) | Refusal::KeyUnusable(error) => Self::TokenOut(error),
            Refusal::Unauthenticated(refused) => Self::Unauthenticated(refused),
            Refusal::NotBegun | Refusal::TimedOut { .. } => Self::TimedOut,
            // The client that left receives no answer.
            Refusal::QueueFull
            | Refusal::Unchecked
            | Refusal::PolicyChanged
            | Refusal::ClientLeft { .. } => Self::Unavailable,
            Refusal::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

impl From<UnreadableBody> for ApiError {
    fn from(unread: UnreadableBody) -> Self {
        match unread {
            UnreadableBody::OtherMedia => Self::UnsupportedMediaType,
            UnreadableBody::Encoded => Self::ContentEncoding,
            UnreadableBody::Late => Self::BodyLate,
            UnreadableBody::TooLarge => Self::PayloadTooLarge,
            UnreadableBody::NoMemory => Self::Unavailable,
            UnreadableBody::BrokenOff => Self::of_body(Code::Format, unread.to_string()),
        }
    }
}

impl From<NotJson> for ApiError {
    fn from(error: NotJson) -> Self {
        Self::of_body(Code::Format, error.to_string())
    }
}

impl From<Unrecorded> for ApiError {
    fn from(unrecorded: Unrecorded) -> Self {
        Self::Unrecorded(unrecorded)
    }
}

/// The status and code of a refusal.
pub fn status_of(refusal: &protection::Refusal) -> AnswerStatus {
    ApiError::from(refusal.clone()).code().answer_status()
}

/// The `error` of a refused item of a batch, in JSON.
pub fn refusal_json(refusal: &protection::Refusal) -> String {
    ApiError::from(refusal.clone()).error_json()
}

impl From<Unreadable> for ApiError {
    fn from(Unreadable(error): Unreadable) -> Self {
        Self::Database(error)
    }
}

impl From<WrongKind> for ApiError {
    fn from(wrong: WrongKind) -> Self {
        Self::WrongKind(wrong)
    }
}

impl From<Crowded> for ApiError {
    fn from(_: Crowded) -> Self {
        Self::Crowded
    }
}

impl From<Exceeded> for ApiError {
    fn from(exceeded: Exceeded) -> Self {
        Self::RateLimited(exceeded)
    }
}

impl From<Vec<Problem>> for ApiError {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}
