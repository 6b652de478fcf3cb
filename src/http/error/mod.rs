//! The one map from what went wrong to what the client is told.
//!
//! Rooms below know no HTTP; handlers return a [`Fault`], whatever it is made of, and
//! [`frame`](super::frame) writes it. Outside, an answer never carries what helps an attacker;
//! inside, the log gets the whole of it under the request's name.

mod causes;
mod told;

use std::sync::Arc;

use axum::http::{HeaderValue, header};

use self::causes::passes;
use super::error_code::ErrorCode;
use crate::audit::Unrecorded;
use crate::auth::{Refusal, WrongKind};
use crate::management::Missing;
use crate::problem::Problem;
use crate::ratelimit::Exceeded;

pub use self::causes::recorded_status;
pub(super) use self::told::{Carried, Refused, Told};

/// Why a request is not answered as its sender hoped.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// Something is wrong with the request; never empty.
    Problems(Vec<Problem>),
    /// There is nothing at this path.
    NotFound,
    /// There is something, but not for this method.
    MethodNotAllowed,
    /// The body is not JSON by its own account.
    UnsupportedMediaType,
    /// The body is larger than the settings allow.
    PayloadTooLarge,
    /// The credential is not good. Why is for the log alone.
    Unauthenticated(Refusal),
    /// The credential is good, and not for this API.
    WrongKind(WrongKind),
    /// The caller has used up what it may send.
    RateLimited(Exceeded),
    /// There is no such resource.
    Missing(Missing),
    /// It would contradict what is there, as the text says.
    Conflict(String),
    /// The resource is not as the caller expects it.
    Outdated,
    /// The legacy form of an envelope is none.
    InvalidProtectedPayload,
    /// The API key, the policy or the key's state forbids it, as the text says.
    NotAllowed(String),
    /// The destination alone can open envelopes of this policy.
    UnprotectNotAvailable,
    /// The policy refuses while it is inactive.
    PolicyNotActive,
    /// The destination has no key for this.
    DestinationKeyNotFound,
    /// What was to be decrypted does not authenticate.
    DecryptionFailed,
    /// An envelope does not open, or cannot be made. Why is for nobody.
    #[expect(dead_code, reason = "the log reads it, by Debug")]
    Failed(&'static str),
    /// The token did not do it.
    #[expect(dead_code, reason = "the log reads it, by Debug")]
    Token(hsm::HsmError),
    /// No token can be asked.
    #[expect(dead_code, reason = "the log reads it, by Debug")]
    TokenOut(hsm::HsmError),
    /// The answer was not recorded, so it does not leave.
    Unrecorded(Unrecorded),
    /// The database did not do it.
    Database(Arc<sqlx::Error>),
    /// The time for answering is over.
    TimedOut,
    /// Something that this needs is out of reach; it will be back.
    Unavailable,
    /// A defect of ours.
    Internal,
}

impl Fault {
    /// What the client is told of it.
    pub(super) fn told(&self) -> Told {
        match self {
            Self::Problems(_) => ErrorCode::InvalidRequest.into(),
            Self::NotFound => ErrorCode::NotFound.into(),
            Self::MethodNotAllowed => ErrorCode::MethodNotAllowed.into(),
            Self::UnsupportedMediaType => ErrorCode::UnsupportedMediaType.into(),
            Self::PayloadTooLarge => ErrorCode::PayloadTooLarge.into(),
            Self::Unauthenticated(_) => Told::from(ErrorCode::AuthenticationFailed)
                .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            Self::WrongKind(_) => ErrorCode::Forbidden.into(),
            Self::RateLimited(exceeded) => Told::from(ErrorCode::RateLimitExceeded)
                .retry_after(exceeded.retry_after.as_secs().saturating_add(1)),
            Self::Missing(Missing::Service) => ErrorCode::ServiceNotFound.into(),
            Self::Missing(Missing::Policy) => ErrorCode::PolicyNotFound.into(),
            Self::Missing(Missing::Key) => ErrorCode::KeyNotFound.into(),
            Self::Missing(Missing::ApiKey) => ErrorCode::ApiKeyNotFound.into(),
            Self::Conflict(conflict) => Told::from(ErrorCode::Conflict).saying(sentence(conflict)),
            Self::Outdated => ErrorCode::PreconditionFailed.into(),
            Self::InvalidProtectedPayload => ErrorCode::InvalidProtectedPayload.into(),
            Self::NotAllowed(why) => {
                Told::from(ErrorCode::OperationNotAllowed).saying(sentence(why))
            }
            Self::UnprotectNotAvailable => ErrorCode::UnprotectNotAvailable.into(),
            Self::PolicyNotActive => ErrorCode::PolicyNotActive.into(),
            Self::DestinationKeyNotFound => ErrorCode::DestinationKeyNotFound.into(),
            Self::DecryptionFailed => ErrorCode::DecryptionFailed.into(),
            Self::Failed(_) | Self::Token(_) => Self::Internal.told(),
            Self::TokenOut(_) | Self::Unrecorded(_) => Self::Unavailable.told(),
            Self::Database(error) if !passes(error) => Self::Internal.told(),
            Self::Database(_) => Self::Unavailable.told(),
            Self::TimedOut => Self::Unavailable
                .told()
                .saying("The request could not be answered in time"),
            Self::Unavailable => Told::from(ErrorCode::ServiceUnavailable).retry_after(1),
            Self::Internal => ErrorCode::InternalError.into(),
        }
    }

    /// What happened, for the log, which is told more than the client.
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Unauthenticated(refusal) => refusal.to_string(),
            Self::WrongKind(wrong) => wrong.to_string(),
            Self::Database(error) => error.to_string(),
            Self::Unrecorded(unrecorded) => unrecorded.to_string(),
            other => format!("{other:?}"),
        }
    }

    /// The problems to list, where the request is at fault.
    fn details(&self) -> Option<&[Problem]> {
        match self {
            Self::Problems(problems) => Some(problems),
            _ => None,
        }
    }
}

/// A text of ours, as it stands in a log, as a sentence that begins an answer.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
