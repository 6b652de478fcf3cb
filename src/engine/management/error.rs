//! Errors of use cases.

use super::changes::Proposed;
use super::resource_type::ResourceType;
use crate::auth::Role;
use crate::floor::Breach;
use formats::problem::{Problem, Problems};

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request has these problems.
    #[error("the request has problems")]
    Invalid(Problems),
    /// The resource does not exist.
    #[error("there is no such {}", .0.label())]
    Missing(ResourceType),
    /// The change contradicts another resource or the state of this one. The text holds no secret.
    #[error("{0}")]
    Conflict(String),
    /// The resource is not in the state that the caller expects.
    #[error("the resource was changed in the meantime")]
    Outdated,
    /// The API key of the author was revoked or has expired since the request arrived.
    #[error("the API key was revoked or has expired")]
    Unauthenticated,
    /// The author has none of the roles that the use case needs.
    #[error("requires the role {}", named(.0))]
    Forbidden(&'static [Role]),
    /// The author may not decide about the change. The text explains why.
    #[error("{0}")]
    NotAnApprover(&'static str),
    /// The change needs approval: it was proposed, and nothing else has happened.
    #[error("the change needs approval")]
    Proposed(Box<Proposed>),
    /// The settings do not allow it. The text names the setting.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// The algorithm of the key is below the floor.
    #[error(transparent)]
    BelowFloor(#[from] Breach),
    /// The token failed.
    #[error(transparent)]
    Token(#[from] hsm::HsmError),
    /// The task ended early, which is a defect. The reconciler finds its remaining token objects.
    #[error("the task ended early")]
    BrokenOff,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
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

fn named(roles: &[Role]) -> String {
    let names: Vec<_> = roles.iter().map(|role| role.name()).collect();
    names.join(" or ")
}

impl Error {
    /// Whether the database refused a second row where `index` admits one.
    pub(super) fn is_duplicate_of(&self, index: &str) -> bool {
        match self {
            Self::Database(error) => {
                error.as_database_error().is_some_and(|refusal| refusal.constraint() == Some(index))
            }
            Self::Invalid(_)
            | Self::Missing(_)
            | Self::Conflict(_)
            | Self::Outdated
            | Self::Forbidden(_)
            | Self::NotAnApprover(_)
            | Self::Proposed(_)
            | Self::NotAllowed(_)
            | Self::BelowFloor(_)
            | Self::Token(_)
            | Self::Unauthenticated
            | Self::BrokenOff => false,
        }
    }

    /// Whether the same change can succeed later: the token or the database failed.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Token(_) | Self::Database(_) | Self::BrokenOff => true,
            Self::Invalid(_)
            | Self::Missing(_)
            | Self::Conflict(_)
            | Self::Outdated
            | Self::Forbidden(_)
            | Self::NotAnApprover(_)
            | Self::Proposed(_)
            | Self::NotAllowed(_)
            | Self::BelowFloor(_)
            | Self::Unauthenticated => false,
        }
    }
}
