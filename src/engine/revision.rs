//! Revisions of resources.

use std::fmt;
use std::str::FromStr;

/// The revision of a resource. Each change increments it. The `ETag` contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(transparent)]
pub struct Revision(i64);

impl Revision {
    /// The revision of a new resource.
    pub const FIRST: Self = Self(1);

    /// The revision with this number.
    pub(crate) const fn of(number: i64) -> Self {
        Self(number)
    }

    /// Its number.
    pub(crate) const fn number(self) -> i64 {
        self.0
    }

    /// The revision after the next change.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is not a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a revision")]
pub struct NotARevision;

impl FromStr for Revision {
    type Err = NotARevision;

    fn from_str(text: &str) -> Result<Self, NotARevision> {
        let number: i64 = text.parse().map_err(|_| NotARevision)?;
        // `ETag` has one way to write a number: no sign, no leading zeros.
        let canonical = number > 0 && number.to_string() == text;
        canonical.then_some(Self(number)).ok_or(NotARevision)
    }
}
