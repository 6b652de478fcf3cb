//! Why an application does not get what it asked for.

use hsm::{ErrorKind, HsmError};

use crate::auth::WrongKind;
use crate::catalog::Unreadable;
use crate::envelope::{NotAnEnvelope, SealError, Unopenable};
use crate::json::NotJson;
use crate::keys::{NoKey, NotCounted, Status};
use crate::policy::{NotAllowed, UnprotectNotAvailable, Unresolved};
use crate::problem::{Problem, Problems};
use crate::ratelimit::Exceeded;

/// Everything that a request of an identified caller can be refused for, in the order in which it
/// is looked for.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The body could not be read.
    #[error(transparent)]
    Unread(#[from] Unread),
    /// The body is not one JSON value.
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// The API key is of a type that calls another API.
    #[error(transparent)]
    WrongKind(#[from] WrongKind),
    /// The caller asks too much.
    #[error(transparent)]
    Limited(#[from] Exceeded),
    /// Something is wrong with what was asked; never empty.
    #[error("{}", listed(.0))]
    Problems(Problems),
    /// The legacy string is no envelope.
    #[error(transparent)]
    InvalidProtectedPayload(#[from] NotAnEnvelope),
    /// There is no policy of that number.
    #[error("there is no such policy")]
    PolicyNotFound,
    /// The API key or the policy does not allow it.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The destination alone holds the private key.
    #[error(transparent)]
    UnprotectNotAvailable(#[from] UnprotectNotAvailable),
    /// The policy is inactive, and refuses while it is.
    #[error("the policy is not active")]
    PolicyNotActive,
    /// The destination has no key for this.
    #[error("the destination service has no active key for this")]
    DestinationKeyNotFound,
    /// There is no such key, or it is another service's.
    #[error("there is no such key")]
    KeyNotFound,
    /// The key's state forbids it.
    #[error("the key is {}, which does not allow this", .0.name())]
    KeyState(Status),
    /// The key has encrypted as often as is safe.
    #[error("the key has encrypted as often as AES-GCM is safe with one key; use a new one")]
    KeySpent,
    /// What was to be decrypted does not authenticate.
    #[error("the ciphertext does not authenticate")]
    DecryptionFailed,
    /// The envelope does not open, for whatever reason.
    #[error("the operation failed")]
    Unopenable,
    /// No envelope could be made.
    #[error("the operation failed")]
    Unsealed(SealError),
    /// A token that works did not do it.
    #[error("the operation failed")]
    Token(HsmError),
    /// No token could be asked.
    #[error("the token cannot be reached")]
    TokenOut(HsmError),
    /// The database could not be asked.
    #[error("the database cannot be reached")]
    Unreadable(#[from] Unreadable),
}

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It says of itself that it is something else.
    #[error("the body is not application/json")]
    OtherMedia,
    /// It is larger than allowed.
    #[error("the body is too large")]
    TooLarge,
    /// It ended before its end.
    #[error("the body broke off")]
    BrokenOff,
}

/// Under what an answer is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The status it has outside.
    pub status: u16,
    /// The code it has outside; none of a success.
    pub code: Option<&'static str>,
}

impl Mark {
    pub(super) const OK: Self = Self {
        status: 200,
        code: None,
    };
}

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problems(problem.into())
    }
}

impl From<Unresolved> for Refusal {
    fn from(unresolved: Unresolved) -> Self {
        match unresolved {
            Unresolved::NotNamed => Problem::required("policyNumber").into(),
            Unresolved::NotFound => Self::PolicyNotFound,
            Unresolved::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

impl From<SealError> for Refusal {
    fn from(error: SealError) -> Self {
        Self::Unsealed(error)
    }
}

impl From<Unopenable> for Refusal {
    fn from(_: Unopenable) -> Self {
        Self::Unopenable
    }
}

impl From<NotCounted> for Refusal {
    fn from(not_counted: NotCounted) -> Self {
        match not_counted {
            NotCounted::Exhausted => Self::KeySpent,
            NotCounted::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

impl From<HsmError> for Refusal {
    fn from(error: HsmError) -> Self {
        match error.kind() {
            ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late => Self::TokenOut(error),
            ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Refused => Self::Token(error),
        }
    }
}

impl Refusal {
    /// Why a policy's destination has no key for what was asked.
    pub(super) fn of_destination(no_key: NoKey) -> Self {
        match no_key {
            NoKey::NotFound | NoKey::Unfit(_) | NoKey::NotAllowed(..) => {
                Self::DestinationKeyNotFound
            }
            NoKey::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

/// What is wrong, in one line for the trail.
fn listed(problems: &Problems) -> String {
    let mut line = String::new();
    for problem in problems.as_slice() {
        if !line.is_empty() {
            line.push_str("; ");
        }
        if !problem.field.is_empty() {
            line.push_str(&problem.field);
            line.push_str(": ");
        }
        line.push_str(&problem.message);
    }
    line
}
