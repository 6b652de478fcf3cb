//! The state in which a caller expects a resource.

use super::Error;
use crate::revision::Revision;

/// The state in which a caller expects a resource that is to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    #[default]
    Any,
    /// One of these. What was no revision of ours is left out, so the list may be empty.
    OneOf(Vec<Revision>),
}

impl Expected {
    /// Holds a resource at `revision` against what was expected.
    ///
    /// # Errors
    /// When it is in another state.
    pub fn check(&self, revision: Revision) -> Result<(), Error> {
        match self {
            Self::Any => Ok(()),
            Self::OneOf(expected) if expected.contains(&revision) => Ok(()),
            Self::OneOf(_) => Err(Error::Outdated),
        }
    }
}
