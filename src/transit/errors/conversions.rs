//! Errors of other crates as answers.

use axum::http::StatusCode;
use hsm::ErrorKind;

use engine::audit::Unrecorded;
use engine::auth::WrongKind;
use engine::catalog::Unreadable;
use engine::floor::Breach;
use engine::keys::KeyStatus;
use engine::management;
use engine::policy::NotAllowed;
use engine::protection::Refusal;
use engine::ratelimit::Exceeded;
use engine::web::{Unauthenticated, UnreadableBody};
use formats::json::NotJson;
use formats::problem::{Problem, Problems};

use super::{PERMISSION_DENIED, Refused};

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
            | Refusal::PolicyChanged
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
        match unreadable.is_transient() {
            true => Self::unavailable().because(&unreadable),
            false => Self::internal().because(&unreadable),
        }
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
