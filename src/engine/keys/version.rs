//! The version of a key.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use crate::resource::{FieldInput, Member, Value, positive};
use formats::json::Text;
use formats::problem::Problems;

/// The maximum of a request. The table `revisions` admits it as the first number of a name.
const MOST: u32 = 1 << 24;

/// The number of a key among the keys of its service and name.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema, sqlx::Type,
)]
#[serde(transparent)]
#[sqlx(transparent)]
#[schema(minimum = 1)]
pub struct KeyVersion(i64);

impl Value for KeyVersion {
    const INPUT: FieldInput = FieldInput::Number;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        positive(text, field, MOST, problems).map(|number| Self(number.get().into()))
    }
}

impl KeyVersion {
    /// The version with this number.
    pub const fn of(number: i64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for KeyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
