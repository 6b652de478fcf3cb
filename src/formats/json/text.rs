//! A JSON value as source text.

use std::borrow::Cow;
use std::fmt;

use super::scan::{NotJson, find_members, scan};

/// One well-formed JSON value, borrowed from its source text, without surrounding white space.
///
/// It can be a secret, so `Debug` shows only its kind and length.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(&'a str);

/// The six kinds of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// A string has a lone surrogate, so it is not Unicode text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must not contain a lone surrogate")]
pub struct NotUnicode;

impl<'a> Text<'a> {
    /// Checks that `bytes` are one JSON value.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NotJson> {
        let text = str::from_utf8(bytes).map_err(|_| NotJson::Encoding)?;
        let value = scan(text, |_| {})?;
        Ok(Self(text.get(value).unwrap_or_default()))
    }

    /// A part of a scanned text.
    pub(super) fn part(text: &'a str) -> Self {
        Self(text)
    }

    /// The exact text of the value.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// The kind of value, which the first character determines.
    pub fn kind(self) -> ValueKind {
        match self.0.as_bytes().first() {
            Some(b'n') => ValueKind::Null,
            Some(b't' | b'f') => ValueKind::Boolean,
            Some(b'"') => ValueKind::String,
            Some(b'[') => ValueKind::Array,
            Some(b'{') => ValueKind::Object,
            _ => ValueKind::Number,
        }
    }

    /// The content of a string; `None` for any other kind of value.
    pub fn string(self) -> Option<Result<Cow<'a, str>, NotUnicode>> {
        let inside = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if !inside.contains('\\') {
            return Some(Ok(Cow::Borrowed(inside)));
        }
        let unescaped = serde_json::from_str(self.0);
        Some(unescaped.map(Cow::Owned).map_err(|_| NotUnicode))
    }

    /// The first `most` elements of an array; `None` for any other kind of value.
    pub fn elements(self, most: usize) -> Option<Vec<Self>> {
        if self.kind() != ValueKind::Array {
            return None;
        }
        let mut elements = Vec::new();
        find_members(self.0, |element| {
            if elements.len() < most {
                elements.push(Self(self.0.get(element.value).unwrap_or_default()));
            }
        });
        Some(elements)
    }

    /// The texts of all numbers in this value, in order.
    pub fn numbers(self) -> impl Iterator<Item = &'a str> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            loop {
                let start = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
                rest = rest.get(start..)?;
                if let Some(string) = rest.strip_prefix('"') {
                    rest = behind_string(string);
                } else {
                    let end = rest.find(|c| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
                    let (number, behind) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
                    rest = behind;
                    return Some(number);
                }
            }
        })
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({:?}, {} bytes)", self.kind(), self.0.len())
    }
}

/// The text after the closing quote of a string, which starts after its opening quote.
fn behind_string(mut rest: &str) -> &str {
    while let Some(stop) = rest.find(['"', '\\']) {
        let escaped = rest.get(stop..).is_some_and(|at| at.starts_with('\\'));
        rest = rest.get(stop + if escaped { 2 } else { 1 }..).unwrap_or_default();
        if !escaped {
            return rest;
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text<'_> {
        Text::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn letters_are_kept_and_surrounding_space_is_removed() {
        assert_eq!(text(" {\"b\" : 1.0,\"a\":1e5}\n").as_str(), "{\"b\" : 1.0,\"a\":1e5}");
        assert_eq!(Text::parse(b"\"\xff\""), Err(NotJson::Encoding));
    }

    #[test]
    fn the_kind_is_reported() {
        let kinds = ["null", "true", "false", "-1", "\"\"", "[]", "{}"].map(|t| text(t).kind());
        use ValueKind::{Array, Boolean, Null, Number, Object, String};
        assert_eq!(kinds, [Null, Boolean, Boolean, Number, String, Array, Object]);
    }

    #[test]
    fn the_elements_of_an_array_are_found_up_to_a_maximum() {
        let array = text(r#" [ 1 , [2, 3],{"a":[4]}, "]" ,[] ] "#);
        let found = array.elements(9).unwrap();
        let found: Vec<_> = found.into_iter().map(Text::as_str).collect();
        assert_eq!(found, ["1", "[2, 3]", r#"{"a":[4]}"#, "\"]\"", "[]"]);
        assert_eq!(array.elements(2).unwrap().len(), 2);
        assert_eq!(text("[]").elements(2), Some(Vec::new()));
        assert_eq!(text("{}").elements(2), None);
    }

    #[test]
    fn strings_without_escapes_are_borrowed() {
        assert!(matches!(text("\"grün\"").string(), Some(Ok(Cow::Borrowed("grün")))));
        assert_eq!(text(r#""\u0061\ud83d\ude00\/""#).string(), Some(Ok("a😀/".into())));
        assert_eq!(text(r#""\ud83d""#).string(), Some(Err(NotUnicode)));
        assert_eq!(text(r#""\ude00\ud83d""#).string(), Some(Err(NotUnicode)));
        assert_eq!(text("1").string(), None);
    }

    #[test]
    fn numbers_are_only_found_outside_strings() {
        let value = text(r#"{"1":[-0.5e+3,"2\\","\"3",[4]],"\"5":6,"x":true}"#);
        assert_eq!(value.numbers().collect::<Vec<_>>(), ["-0.5e+3", "4", "6"]);
        assert_eq!(text("7").numbers().collect::<Vec<_>>(), ["7"]);
        assert_eq!(text("\"8\"").numbers().next(), None);
    }

    #[test]
    fn debug_does_not_show_the_value() {
        assert_eq!(format!("{:?}", text("\"secret\"")), "Text(String, 8 bytes)");
    }
}
