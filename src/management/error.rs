//! Why something administrators asked for was not done.

use crate::problem::{Problem, Problems};

/// Why a use case came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was proposed is wrong, in each of these ways.
    #[error("the proposal has problems")]
    Invalid(Problems),
    /// There is no such thing.
    #[error("there is no such {0}")]
    Missing(Missing),
    /// It would contradict what is there; the text says what, and holds no secret.
    #[error("{0}")]
    Conflict(String),
    /// It was changed since the caller last saw it.
    #[error("it was changed in the meantime")]
    Outdated,
    /// The operator does not allow it; the text says which setting would.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// The token did not do it.
    #[error(transparent)]
    Token(#[from] hsm::HsmError),
    /// The work broke off, which is a defect; what it left behind will be found.
    #[error("the work broke off")]
    BrokenOff,
    /// The database did not do it.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The kinds of thing that can be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A service.
    Service,
    /// A policy.
    Policy,
    /// A key.
    Key,
    /// An API key.
    ApiKey,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Service => "service",
            Self::Policy => "policy",
            Self::Key => "key",
            Self::ApiKey => "API key",
        })
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Invalid(problem.into())
    }
}

impl Error {
    /// Whether the database refused a second row where `index` admits one.
    pub(super) fn is_duplicate_of(error: &sqlx::Error, index: &str) -> bool {
        error
            .as_database_error()
            .is_some_and(|refusal| refusal.constraint() == Some(index))
    }

    /// A conflict because `what` is still referred to by `referrers`, each named.
    pub(super) fn referred_to(what: &str, referrers: &[String]) -> Self {
        const NAMED: usize = 20;
        let named = referrers
            .iter()
            .take(NAMED)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let more = match referrers.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Self::Conflict(format!("the {what} is still referred to by {named}{more}"))
    }
}
