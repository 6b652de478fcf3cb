//! The state in which a caller expects a resource.

use super::Error;
use crate::revision::Revision;

/// The state in which a caller expects a resource that it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// Any state.
    #[default]
    Any,
    /// One of these. Texts that are no revisions are left out, so the list may be empty.
    OneOf(Vec<Revision>),
}

impl Expected {
    /// Compares the `revision` of a resource with the expected one.
    pub fn check(&self, revision: Revision) -> Result<(), Error> {
        match self {
            Self::Any => Ok(()),
            Self::OneOf(expected) if expected.contains(&revision) => Ok(()),
            Self::OneOf(_) => Err(Error::Outdated),
        }
    }
}
