//! How often a key is rotated.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use crate::resource::{Input, Member, Positive, Value};
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

/// The maximum number of days.
const MOST: i32 = 3_650;

/// The days from the activation of a key to the activation of its successor: 1 to 3,650.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
#[schema(minimum = 1, maximum = 3_650)]
pub struct RotationDays(i32);

impl Value for RotationDays {
    const INPUT: Input = Input::Number;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        let mut found = Problems::default();
        let days = match Positive::read(text, field, &mut found) {
            Member::Given(Positive(days)) => i32::try_from(days.get()).ok(),
            Member::Absent | Member::Wrong => None,
        };
        if let Some(days) = days.filter(|days| *days <= MOST) {
            return Member::Given(Self(days));
        }
        let is_number = found.as_slice().iter().all(|it| it.code == Code::Range);
        problems.note(if is_number {
            Problem::new(field, Code::Range, format!("must be 1 to {MOST}"))
        } else {
            Problem::new(field, Code::Type, "must be a whole number")
        });
        Member::Wrong
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
