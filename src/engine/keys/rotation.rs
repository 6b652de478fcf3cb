//! How often a key is rotated.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use crate::resource::{FieldInput, Member, Value, positive};
use formats::json::Text;
use formats::problem::Problems;

/// The maximum number of days.
const MOST: u32 = 3_650;

/// The days from the activation of a key to the activation of its successor: 1 to 3,650.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
#[schema(minimum = 1, maximum = 3_650)]
pub struct RotationDays(i32);

impl Value for RotationDays {
    const INPUT: FieldInput = FieldInput::Number;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        positive(text, field, MOST, problems).map(|days| Self(days.get().cast_signed()))
    }
}

impl RotationDays {
    /// The number of days.
    pub const fn days(self) -> i32 {
        self.0
    }
}

impl fmt::Display for RotationDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
