//! The one map from what went wrong to what the client is told.
//!
//! Rooms below know no HTTP; handlers return a [`Fault`], whatever it is made of, and
//! [`frame`](super::frame) writes it. Outside, an answer never carries what helps an attacker;
//! inside, the log gets the whole of it under the request's name.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hsm::ErrorKind;
use serde::Serialize;
use utoipa::ToSchema;

use super::error_code::ErrorCode;
use crate::audit::Unrecorded;
use crate::auth::{Refusal, WrongKind};
use crate::catalog::Unreadable;
use crate::json::NotJson;
use crate::management::{self, Missing};
use crate::problem::{Code, Problem};
use crate::protection::{self, Mark, Unread};
use crate::ratelimit::Exceeded;
use crate::request_tag::RequestTag;

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

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The code for programs, which brings its status.
    pub(super) code: ErrorCode,
    /// The text for people.
    pub(super) message: Cow<'static, str>,
    /// Headers that belong to this answer alone.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Fault {
    /// One problem with the body as a whole.
    pub(super) fn of_body(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Problems(vec![Problem::of_body(code, message)])
    }

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

    /// The whole answer to the request called `tag`.
    pub(super) fn answer(&self, tag: &RequestTag) -> Response {
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

/// What every refusal looks like.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
#[serde(rename_all = "camelCase")]
pub(super) struct Refused<'a> {
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
    fn saying(self, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            ..self
        }
    }

    fn retry_after(self, seconds: u64) -> Self {
        self.with(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Carries a fault from a handler to the frame, which knows the request's name.
#[derive(Clone, Debug)]
pub(super) struct Carried(pub(super) Arc<Fault>);

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.told().code.status().into_response();
        response.extensions_mut().insert(Carried(Arc::new(self)));
        response
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

/// Under what a refusal is recorded: as it is told.
#[must_use]
pub fn mark(refusal: &protection::Refusal) -> Mark {
    let told = Fault::from(refusal.clone()).told();
    Mark {
        status: told.code.status().as_u16(),
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

/// Whether this is a state of the database that passes, and no defect of ours.
fn passes(error: &sqlx::Error) -> bool {
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

/// A text of ours, as it stands in a log, as a sentence that begins an answer.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

impl From<Vec<Problem>> for Fault {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}
