//! Which state of a resource a caller has seen.

use std::fmt;
use std::str::FromStr;

use super::Error;

/// Counts the changes of a resource. Outside, it is the content of the `ETag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(transparent)]
pub struct Revision(i64);

/// The state in which a caller expects a resource that is to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    #[default]
    Any,
    /// One of these. What was no revision of ours is left out, so the list may be empty.
    OneOf(Vec<Revision>),
}

impl Revision {
    /// That of a resource just made.
    pub const FIRST: Self = Self(1);

    /// That of a resource whose changes are counted elsewhere.
    #[must_use]
    pub const fn of(changes: i64) -> Self {
        Self(changes)
    }

    /// That after the next change.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is no revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a revision")]
pub struct NotARevision;

impl FromStr for Revision {
    type Err = NotARevision;

    fn from_str(text: &str) -> Result<Self, NotARevision> {
        let number: i64 = text.parse().map_err(|_| NotARevision)?;
        // Only the one way of writing a number that we use is ours.
        let ours = number > 0 && number.to_string() == text;
        ours.then_some(Self(number)).ok_or(NotARevision)
    }
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
