//! Policy numbers.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::ids::PolicyId;
use crate::resource::{FieldInput, Member, Value, string};
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

/// The text by which callers name a policy.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, sqlx::Type, utoipa::ToSchema)]
#[sqlx(transparent)]
#[schema(value_type = String, description = "The number of a policy.", pattern = "^[A-Za-z0-9._-]{1,64}$", examples("POL-000001"))]
pub struct PolicyNumber(String);

impl PolicyNumber {
    /// The number as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it names one policy everywhere: it cannot be the identifier of another one, and is no segment of
    /// a path that clients resolve.
    pub(crate) fn is_distinct(&self) -> bool {
        !self.0.starts_with("pol_") && self.0.bytes().any(|byte| byte != b'.')
    }
}

/// The two ways to name a policy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// By its identifier.
    Id(PolicyId),
    /// By its number.
    Number(PolicyNumber),
}

impl PolicyName {
    /// The identifier or the number.
    pub(crate) fn parts(&self) -> (Option<PolicyId>, Option<&str>) {
        match self {
            Self::Id(id) => (Some(*id), None),
            Self::Number(number) => (None, Some(number.as_str())),
        }
    }
}

impl FromStr for PolicyName {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        text.parse().map(Self::Id).or_else(|_| text.parse().map(Self::Number))
    }
}

/// The text cannot be a policy number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 characters of A-Z a-z 0-9 . _ -")]
pub struct NotANumber;

impl FromStr for PolicyNumber {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let is_allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if (1..=64).contains(&text.len()) && text.bytes().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotANumber)
        }
    }
}

impl Value for PolicyNumber {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |number| {
            number
                .parse()
                .map_err(|error: NotANumber| Problem::of_body(Code::Format, error.to_string()))
        })
    }
}

impl fmt::Display for PolicyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PolicyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_1_to_64_characters_of_a_restricted_alphabet() {
        let longest = "x".repeat(64);
        for valid in ["POL-000001", "a", "A.b_c-9", &longest] {
            assert!(valid.parse::<PolicyNumber>().is_ok(), "{valid}");
        }
        let too_long = "x".repeat(65);
        for bad in ["", " ", "a b", "ä", "a\0", "a/b", &too_long] {
            assert!(bad.parse::<PolicyNumber>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_distinct_number_is_neither_an_identifier_nor_a_dot_segment() {
        for (number, is_distinct) in [
            ("POL-000001", true),
            ("a.b", true),
            ("pol", true),
            ("pol_01h455vb4pex5vsknk084sn02q", false),
            ("pol_", false),
            (".", false),
            ("..", false),
            ("...", false),
        ] {
            let number: PolicyNumber = number.parse().unwrap();
            assert_eq!(number.is_distinct(), is_distinct, "{number}");
        }
    }
}
