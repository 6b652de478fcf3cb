//! Texts that people write about resources.

use std::fmt;
use std::ops::{Deref, RangeInclusive};

use serde::Serialize;
use utoipa::ToSchema;

use super::value::{Value, string};
use super::{Input, Member};
use crate::json::Text;
use crate::problem::{Code, Problem, Problems};

macro_rules! texts {
    ($(#[doc = $doc:literal] $name:ident: $least:tt to $most:tt, $input:ident;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, sqlx::Type, ToSchema)]
        #[serde(transparent)]
        #[sqlx(transparent)]
        #[schema(min_length = $least, max_length = $most)]
        pub struct $name(String);

        impl Value for $name {
            const INPUT: Input = Input::$input;

            fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
                string(text, field, problems, |text| bounded(text, $least..=$most).map(Self))
            }
        }

        impl $name {
            /// A text that the service itself writes.
            pub fn of(text: impl Into<String>) -> Self {
                Self(text.into())
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

texts! {
    /// The name of a resource, for people.
    Name: 1 to 100, Line;
    /// The description of a resource, for people.
    Description: 0 to 1000, Paragraph;
}

fn bounded(text: String, length: RangeInclusive<usize>) -> Result<String, Problem> {
    if !length.contains(&text.chars().count()) {
        let message = format!(
            "must be {} to {} characters long",
            length.start(),
            length.end()
        );
        return Err(Problem::of_body(Code::Length, message));
    }
    if text.contains('\0') {
        return Err(Problem::of_body(Code::Format, "must not contain U+0000"));
    }
    Ok(text)
}
