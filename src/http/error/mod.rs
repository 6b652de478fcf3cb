//! The one mapping from errors to responses.
//!
//! Lower modules know no HTTP. Handlers return an [`ApiError`], and [`frame`](super::frame) writes
//! it. A response never carries what helps an attacker; the log gets the cause under the request's
//! id.

mod conversions;
mod response;

use std::sync::Arc;

use axum::http::{HeaderValue, header};

use super::error_code::ErrorCode;
use engine::audit::Unrecorded;
use engine::auth::{CredentialRefused, Frozen, WrongKind};
use engine::db;
use engine::management::ResourceType;
use engine::management::changes::Proposed;
use engine::ratelimit::{Crowded, Exceeded};
use formats::problem::Problem;

pub use self::conversions::{refusal_json, status_of};
pub(super) use self::response::{CarriedError, Description, ErrorBody};

/// Why a request failed.
#[derive(Clone, Debug)]
pub(super) enum ApiError {
    /// The request is invalid; the list is never empty.
    Problems(Vec<Problem>),
    /// No route has this path.
    NotFound,
    /// The route does not support this method.
    MethodNotAllowed,
    /// The `Content-Type` is not JSON.
    UnsupportedMediaType,
    /// The body has a `Content-Encoding`.
    ContentEncoding,
    /// The body did not arrive in time.
    BodyLate,
    /// The body is larger than the settings allow.
    PayloadTooLarge,
    /// The credential is not valid. Only the log gets the reason.
    Unauthenticated(CredentialRefused),
    /// The credential is valid, but not for this API.
    WrongKind(WrongKind),
    /// The administrator lacks the role. The text names it.
    MissingRole(String),
    /// The administrator may not decide about the change. The text explains why.
    NotAnApprover(String),
    /// The change needs approval and was proposed. The response is not an error.
    Proposed(Arc<Proposed>),
    /// The caller exceeded its rate limit.
    RateLimited(Exceeded),
    /// The resource does not exist.
    Missing(ResourceType),
    /// The change conflicts with the current state. The text explains the conflict.
    Conflict(String),
    /// Another request with the same `Idempotency-Key` is in progress.
    InProgress,
    /// `If-Match` does not match the resource.
    Outdated,
    /// The legacy form of an envelope cannot be parsed.
    InvalidProtectedPayload,
    /// The API key, the policy or the state of the key forbids it. The text explains why.
    NotAllowed(String),
    /// Only the destination can open envelopes of this policy.
    UnprotectNotAvailable,
    /// Something is frozen.
    Frozen(Frozen),
    /// The policy is inactive and its failure mode is `error`.
    PolicyNotActive,
    /// The destination has no key for this.
    DestinationKeyNotFound,
    /// The ciphertext does not authenticate.
    DecryptionFailed,
    /// An envelope could not be opened or made.
    Failed(&'static str),
    /// The token refused the operation.
    Token(hsm::HsmError),
    /// No token is available.
    TokenOut(hsm::HsmError),
    /// The audit record could not be written, so the answer is withheld.
    Unrecorded(Unrecorded),
    /// The database failed.
    Database(Arc<sqlx::Error>),
    /// The address has too many look-ups of unknown credentials and ids.
    Crowded,
    /// The request exceeded its time limit.
    TimedOut,
    /// A dependency is temporarily unavailable.
    Unavailable,
    /// A defect of the service.
    Internal,
}

impl ApiError {
    /// What the client learns about the error.
    pub(super) fn describe(&self) -> Description {
        match self {
            Self::Problems(_) => ErrorCode::InvalidRequest.into(),
            Self::NotFound => ErrorCode::NotFound.into(),
            Self::MethodNotAllowed => ErrorCode::MethodNotAllowed.into(),
            Self::UnsupportedMediaType => ErrorCode::UnsupportedMediaType.into(),
            Self::ContentEncoding => Description::from(ErrorCode::UnsupportedMediaType)
                .with_message("The body must not have a Content-Encoding")
                .with_header(header::ACCEPT_ENCODING, HeaderValue::from_static("identity")),
            Self::BodyLate => Description::from(ErrorCode::RequestTimeout)
                .with_header(header::CONNECTION, HeaderValue::from_static("close")),
            Self::PayloadTooLarge => ErrorCode::PayloadTooLarge.into(),
            Self::Unauthenticated(_) => Description::from(ErrorCode::AuthenticationFailed)
                .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            Self::WrongKind(_) => ErrorCode::Forbidden.into(),
            Self::MissingRole(why) | Self::NotAnApprover(why) => {
                Description::from(ErrorCode::Forbidden).with_message(sentence(why))
            }
            Self::RateLimited(exceeded) => Description::from(ErrorCode::RateLimitExceeded)
                .retry_after(exceeded.retry_after.as_secs().saturating_add(1)),
            Self::Missing(of) => ErrorCode::missing(*of).into(),
            Self::Proposed(_) => Description::from(ErrorCode::Conflict)
                .with_message("The change needs approval and was proposed"),
            Self::Conflict(conflict) => {
                Description::from(ErrorCode::Conflict).with_message(sentence(conflict))
            }
            Self::InProgress => Description::from(ErrorCode::Conflict)
                .with_message("A request with this Idempotency-Key is in progress; try again soon")
                .retry_after(1),
            Self::Outdated => ErrorCode::PreconditionFailed.into(),
            Self::InvalidProtectedPayload => ErrorCode::InvalidProtectedPayload.into(),
            Self::NotAllowed(why) => {
                Description::from(ErrorCode::OperationNotAllowed).with_message(sentence(why))
            }
            Self::UnprotectNotAvailable => ErrorCode::UnprotectNotAvailable.into(),
            Self::Frozen(frozen) => Description::from(ErrorCode::ServiceFrozen)
                .with_message(sentence(&frozen.to_string())),
            Self::PolicyNotActive => ErrorCode::PolicyNotActive.into(),
            Self::DestinationKeyNotFound => ErrorCode::DestinationKeyNotFound.into(),
            Self::DecryptionFailed => ErrorCode::DecryptionFailed.into(),
            Self::Failed(_) | Self::Token(_) => Self::Internal.describe(),
            Self::TokenOut(_) | Self::Unrecorded(_) => Self::Unavailable.describe(),
            Self::Crowded => Description::from(ErrorCode::RateLimitExceeded).retry_after(1),
            Self::Database(error) if !db::is_transient(error) => Self::Internal.describe(),
            Self::Database(_) => Self::Unavailable.describe(),
            Self::TimedOut => Self::Unavailable
                .describe()
                .with_message("The request could not be answered in time"),
            Self::Unavailable => Description::from(ErrorCode::ServiceUnavailable).retry_after(1),
            Self::Internal => ErrorCode::InternalError.into(),
        }
    }

    /// The code that the client sees.
    pub(super) fn code(&self) -> ErrorCode {
        self.describe().code
    }

    /// The cause, for the log only.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "an error without a cause of its own is described by its message"
    )]
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Unauthenticated(refusal) => refusal.to_string(),
            Self::WrongKind(wrong) => wrong.to_string(),
            Self::Database(error) => error.to_string(),
            Self::Unrecorded(unrecorded) => unrecorded.to_string(),
            Self::Token(error) | Self::TokenOut(error) => error.report(),
            Self::Failed(why) => (*why).to_owned(),
            Self::Crowded => Crowded.to_string(),
            Self::Problems(problems) => listed(problems),
            other => other.describe().message.into_owned(),
        }
    }

    /// The problems of an invalid request.
    fn details(&self) -> Option<&[Problem]> {
        if let Self::Problems(problems) = self {
            return Some(problems);
        }
        None
    }
}

/// The problems without their values. A request can have many.
fn listed(problems: &[Problem]) -> String {
    const MOST: usize = 4;
    let shown = problems.iter().take(MOST);
    let texts: Vec<_> =
        shown.map(|problem| format!("{} {}", problem.place(), problem.message)).collect();
    texts.join("; ")
}

/// A log text with a capital at its beginning.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
