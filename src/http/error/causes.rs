//! What faults are made of: the errors of the rooms below, each to what it means here.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::StatusCode;
use hsm::ErrorKind;

use super::Fault;
use crate::audit::Unrecorded;
use crate::auth::WrongKind;
use crate::catalog::Unreadable;
use crate::json::NotJson;
use crate::management::{self, Missing};
use crate::problem::{Code, Problem};
use crate::protection::{self, RecordedStatus, Unread};
use crate::ratelimit::Exceeded;

impl Fault {
    /// One problem with the body as a whole.
    pub(in crate::http) fn of_body(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Problems(vec![Problem::of_body(code, message)])
    }
}

impl From<management::Error> for Fault {
    fn from(error: management::Error) -> Self {
        match error {
            management::Error::Invalid(problems) => Self::Problems(problems.into_vec()),
            management::Error::Missing(missing) => Self::Missing(missing),
            management::Error::Conflict(conflict) => Self::Conflict(conflict),
            management::Error::Outdated => Self::Outdated,
            management::Error::NotAllowed(why) => Self::NotAllowed(why.to_owned()),
            management::Error::Token(error) => match error.kind() {
                ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late => Self::TokenOut(error),
                ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Refused => {
                    Self::Token(error)
                }
            },
            management::Error::BrokenOff => Self::Internal,
            management::Error::Database(error) => Self::Database(Arc::new(error)),
        }
    }
}

impl From<protection::Refusal> for Fault {
    fn from(refusal: protection::Refusal) -> Self {
        use protection::Refusal;
        match refusal {
            Refusal::Unread(unread) => unread.into(),
            Refusal::NotJson(error) => error.into(),
            Refusal::WrongKind(wrong) => wrong.into(),
            Refusal::Limited(exceeded) => exceeded.into(),
            Refusal::Problems(problems) => Self::Problems(problems.into_vec()),
            Refusal::InvalidProtectedPayload(_) => Self::InvalidProtectedPayload,
            Refusal::PolicyNotFound => Self::Missing(Missing::Policy),
            Refusal::NotAllowed(_) | Refusal::KeyState(_) | Refusal::KeySpent => {
                Self::NotAllowed(refusal.to_string())
            }
            Refusal::UnprotectNotAvailable(_) => Self::UnprotectNotAvailable,
            Refusal::PolicyNotActive => Self::PolicyNotActive,
            Refusal::DestinationKeyNotFound => Self::DestinationKeyNotFound,
            Refusal::KeyNotFound => Self::Missing(Missing::Key),
            Refusal::DecryptionFailed => Self::DecryptionFailed,
            Refusal::Unopenable => Self::Failed("the envelope does not open"),
            Refusal::Unsealed(_) => Self::Failed("no envelope could be made"),
            Refusal::Token(error) => Self::Token(error),
            Refusal::TokenOut(error) => Self::TokenOut(error),
            Refusal::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

impl From<Unread> for Fault {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::OtherMedia => Self::UnsupportedMediaType,
            Unread::TooLarge => Self::PayloadTooLarge,
            Unread::BrokenOff => Self::of_body(Code::Format, unread.to_string()),
        }
    }
}

impl From<NotJson> for Fault {
    fn from(error: NotJson) -> Self {
        Self::of_body(Code::Format, error.to_string())
    }
}

impl From<Unrecorded> for Fault {
    fn from(unrecorded: Unrecorded) -> Self {
        Self::Unrecorded(unrecorded)
    }
}

/// The status of a refusal, or of a success, as the audit log records it.
#[must_use]
pub fn recorded_status(refusal: Option<&protection::Refusal>) -> RecordedStatus {
    let Some(refusal) = refusal else {
        return RecordedStatus {
            number: StatusCode::OK.as_u16(),
            code: None,
        };
    };
    let told = Fault::from(refusal.clone()).told();
    RecordedStatus {
        number: told.code.status().as_u16(),
        code: Some(told.code.name()),
    }
}

impl From<Unreadable> for Fault {
    fn from(Unreadable(error): Unreadable) -> Self {
        Self::Database(error)
    }
}

impl From<WrongKind> for Fault {
    fn from(wrong: WrongKind) -> Self {
        Self::WrongKind(wrong)
    }
}

impl From<Exceeded> for Fault {
    fn from(exceeded: Exceeded) -> Self {
        Self::RateLimited(exceeded)
    }
}

impl From<Vec<Problem>> for Fault {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}

/// Whether this is a state of the database that passes, and no defect of ours.
pub(super) fn passes(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Connections lost (08), transactions rolled back (40), resources used up (53), operators
        // intervening (57), the disk (58), and a server that is read-only for now (25006).
        sqlx::Error::Database(refusal) => refusal.code().is_some_and(|code| {
            code == "25006"
                || ["08", "40", "53", "57", "58"]
                    .iter()
                    .any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}
