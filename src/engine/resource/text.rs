//! Texts that people write about resources.

use std::fmt;
use std::ops::{Deref, RangeInclusive};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::value::{Value, string};
use super::{FieldInput, Member};
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

macro_rules! texts {
    ($(#[doc = $doc:literal] $name:ident: $least:tt to $most:tt, $input:ident, and $also:expr;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, sqlx::Type, ToSchema)]
        #[serde(transparent)]
        #[sqlx(transparent)]
        #[schema(min_length = $least, max_length = $most)]
        pub struct $name(String);

        impl Value for $name {
            const INPUT: FieldInput = FieldInput::$input;

            fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
                string(text, field, problems, |text| {
                    let text = bounded(text, $least..=$most)?;
                    if text.contains(|character| is_refused(character, &$also)) {
                        return Err(Problem::of_body(Code::Format, MESSAGE));
                    }
                    Ok(Self(text))
                })
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
    Name: 1 to 100, Line, and [];
    /// The subject of a person: how their organization identifies them.
    Subject: 1 to 128, Line, and [];
    /// The reason of a change, for people.
    Reason: 1 to 500, Paragraph, and ['\n', '\t'];
    /// The description of a resource, for people.
    Description: 0 to 1000, Paragraph, and ['\n', '\t'];
}

/// An identifier of 1 to 128 printable ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema)]
#[serde(transparent)]
#[sqlx(transparent)]
#[schema(pattern = "^[ -~]{1,128}$")]
pub struct Printable(String);

impl Value for Printable {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |text| {
            let text = bounded(text, 1..=128)?;
            if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return Ok(Self(text));
            }
            let message = "must be printable ASCII characters";
            Err(Problem::of_body(Code::Format, message))
        })
    }
}

impl Deref for Printable {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

const MESSAGE: &str = "must not contain control, invisible or bidirectional formatting characters";

/// Whether names have no such character, because it can hide or reorder a part of the text.
pub fn is_hidden(character: char) -> bool {
    is_refused(character, &[])
}

/// Whether a character can hide or reorder a part of the text. Of the control characters, those in `also`
/// are allowed.
fn is_refused(character: char, also: &[char]) -> bool {
    let is_bidirectional = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    // Joiners stay: scripts and emoji need them.
    let is_invisible = matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    is_bidirectional || is_invisible || (character.is_control() && !also.contains(&character))
}

fn bounded(text: String, length: RangeInclusive<usize>) -> Result<String, Problem> {
    if !length.contains(&text.chars().count()) {
        let message = format!("must be {} to {} characters long", length.start(), length.end());
        return Err(Problem::of_body(Code::Length, message));
    }
    if text.contains('\0') {
        return Err(Problem::of_body(Code::Format, "must not contain U+0000"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_invisible_and_bidirectional_characters_are_refused() {
        for character in [
            '\0',
            '\u{1f}',
            '\u{7f}',
            '\u{9f}',
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{200f}',
            '\u{202e}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(is_hidden(character), "{character:?}");
        }
        let count = ('\0'..=char::MAX).filter(|character| is_hidden(*character)).count();
        assert_eq!(count, (32 + 33) + (1 + 2 + 5 + 4) + (1 + 1 + 1 + 5 + 1 + 128));
        for character in [' ', 'é', 'ש', '\u{200d}', '\u{2028}', '\u{1F4A9}'] {
            assert!(!is_hidden(character), "{character:?}");
        }
    }
}
