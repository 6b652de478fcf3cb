//! The reasons to refuse a request.

use hsm::{ErrorKind, HsmError};

use crate::auth::{CredentialRefused, WrongKind};
use crate::catalog::Unreadable;
use crate::floor::Breach;
use crate::keys::{KeyError, KeyStatus, NoKey, NotCounted};
use crate::policy::{NotAllowed, NotPermitted, UnprotectNotAvailable, Unresolved};
use crate::ratelimit::Exceeded;
use crate::web::UnreadableBody;
use formats::envelope::{NotAnEnvelope, SealError, Unopenable};
use formats::json::NotJson;
use formats::material::Algorithm;
use formats::problem::{Problem, Problems};

/// The reasons to refuse a request of an authenticated caller, in the order of the checks.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The body could not be read.
    #[error(transparent)]
    UnreadableBody(#[from] UnreadableBody),
    /// The body is not one JSON value.
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// The API key is of a type for another API.
    #[error(transparent)]
    WrongKind(#[from] WrongKind),
    /// The caller exceeds its rate limit.
    #[error(transparent)]
    Limited(#[from] Exceeded),
    /// Members of the body are wrong; never empty.
    #[error("{}", listed(.0))]
    Problems(Problems),
    /// The legacy string is no envelope.
    #[error(transparent)]
    InvalidProtectedPayload(#[from] NotAnEnvelope),
    /// There is no policy of that number.
    #[error("there is no such policy")]
    PolicyNotFound,
    /// The API key, the policy or the floor does not allow the operation, or something is frozen.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// Only the destination holds the private key.
    #[error(transparent)]
    UnprotectNotAvailable(#[from] UnprotectNotAvailable),
    /// The policy is inactive, and its failure mode is to refuse.
    #[error("the policy is not active")]
    PolicyNotActive,
    /// The destination has no key for this.
    #[error("the destination service has no active key for this algorithm")]
    DestinationKeyNotFound,
    /// There is no such key, or another service owns it.
    #[error("there is no such key")]
    KeyNotFound,
    /// The key's state forbids the operation.
    #[error("the key is {0}, which does not allow this")]
    KeyState(KeyStatus),
    /// The request names another service than the caller's.
    #[error("there is no such namespace")]
    NamespaceNotFound,
    /// The name has no version for this.
    #[error(transparent)]
    Version(#[from] VersionRefused),
    /// A key of this algorithm does not do this, or not in the token.
    #[error("a key of the algorithm {0} does not support this")]
    Unsupported(Algorithm),
    /// The key has expired, and the operation makes something new with it.
    #[error("the key has expired, which does not allow this")]
    KeyExpired,
    /// The key has reached its limit of encryptions.
    #[error("the key has reached the limit of AES-GCM encryptions; use a new key")]
    KeySpent,
    /// The ciphertext does not authenticate.
    #[error("the ciphertext is not authentic for this key")]
    DecryptionFailed,
    /// The envelope does not open.
    #[error("the operation failed")]
    Unopenable,
    /// No envelope could be made.
    #[error("the operation failed")]
    Unsealed(SealError),
    /// The answer cannot be written.
    #[error("the operation failed")]
    Unwritten,
    /// A working token refused the operation.
    #[error("the operation failed")]
    Token(HsmError),
    /// No token can be reached.
    #[error("the token cannot be reached")]
    TokenOut(HsmError),
    /// No token uses the key for this operation, whatever the input.
    #[error("the token does not use the key for this operation")]
    KeyUnusable(HsmError),
    /// The credential of a batch was refused before the item began.
    #[error("the credential is no longer valid")]
    Unauthenticated(CredentialRefused),
    /// What decides of the policy was changed while the operation waited.
    #[error("the policy was changed during the operation")]
    PolicyChanged,
    /// The credential of a batch could not be authenticated again before the item began.
    #[error("the credential could not be checked again")]
    Unchecked,
    /// The item of a batch was not begun before the request ended.
    #[error("the item was not started in time")]
    NotBegun,
    /// The client closed the connection before the response. The record says whether the operation was
    /// done; its result is wiped.
    #[error("the client closed the connection before the response; the operation was {}done", if *.done { "" } else { "not " })]
    ClientLeft {
        /// Whether the operation was done.
        done: bool,
    },
    /// The time limit of the request passed before the response. The record says whether the operation was
    /// done; its result is wiped.
    #[error("the request exceeded its time limit; the operation was {}done", if *.done { "" } else { "not " })]
    TimedOut {
        /// Whether the operation was done.
        done: bool,
    },
    /// Too many large bodies wait for a processor.
    #[error("too many large bodies wait for a processor")]
    QueueFull,
    /// The database cannot be reached.
    #[error("the database cannot be reached")]
    Unreadable(#[from] Unreadable),
}

/// Why a version of a key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionRefused {
    /// The name never had it.
    #[error("the key has no version that is so high")]
    TooNew,
    /// The name no longer has it.
    #[error("the version of the key is gone")]
    TooOld,
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

impl From<NotPermitted> for Refusal {
    fn from(refused: NotPermitted) -> Self {
        match refused {
            NotPermitted::NotAllowed(not_allowed) => not_allowed.into(),
            NotPermitted::LostDestination => Self::DestinationKeyNotFound,
            NotPermitted::Deleted => Self::PolicyNotFound,
            NotPermitted::Switched => Self::PolicyNotActive,
            NotPermitted::Changed => Self::PolicyChanged,
            NotPermitted::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

impl From<Breach> for Refusal {
    fn from(breach: Breach) -> Self {
        NotAllowed::from(breach).into()
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

impl From<KeyError> for Refusal {
    fn from(not_done: KeyError) -> Self {
        match not_done {
            KeyError::NoPrivateHalf => Self::KeyNotFound,
            KeyError::NotCounted(NotCounted::Exhausted) => Self::KeySpent,
            KeyError::NotCounted(NotCounted::Unreadable(unreadable)) => unreadable.into(),
            KeyError::BelowFloor(breach) => breach.into(),
            KeyError::Token(error) => error.into(),
        }
    }
}

impl From<HsmError> for Refusal {
    fn from(error: HsmError) -> Self {
        match error.kind() {
            ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late => Self::TokenOut(error),
            ErrorKind::Unusable => Self::KeyUnusable(error),
            ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Refused => Self::Token(error),
        }
    }
}

impl Refusal {
    /// The refusal where the destination of a policy has no key.
    pub(super) fn of_destination(no_key: NoKey) -> Self {
        match no_key {
            NoKey::NotFound | NoKey::Unfit(_) | NoKey::NotAllowed(..) | NoKey::Expired(_) => {
                Self::DestinationKeyNotFound
            }
            NoKey::HeldByDestination(held) => held.into(),
            NoKey::BelowFloor(_, breach) => breach.into(),
            NoKey::Unreadable(unreadable) => unreadable.into(),
        }
    }
}

/// The problems in one line, for the audit log.
fn listed(problems: &Problems) -> String {
    let mut line = String::new();
    for problem in problems.as_slice() {
        if !line.is_empty() {
            line.push_str("; ");
        }
        if !problem.field.is_empty() {
            line.push_str(&problem.place());
            line.push_str(": ");
        }
        line.push_str(&problem.message);
    }
    line
}
