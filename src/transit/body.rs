//! The members of bodies, as these clients write them: numbers and booleans can be strings, `null` equals
//! absence, and unknown members are ignored.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, DecodeSliceError};

use crate::route::truth;
use engine::body_memory::BodyBytes;
use formats::json::{Members, NotJson, Text, ValueKind};
use formats::problem::{Code, Problem, Problems};
use formats::wiped::Wiped;

/// The JSON of a body. An empty body is an empty object.
pub(crate) fn parse(body: &BodyBytes) -> Result<Text<'_>, NotJson> {
    let bytes: &[u8] = body;
    Text::parse(if bytes.is_empty() { b"{}" } else { bytes })
}

/// The members of an object.
pub(crate) struct Fields<'a>(Members<'a>);

impl<'a> Fields<'a> {
    /// The members with these names.
    pub(crate) fn of(text: Text<'a>, names: &[&str]) -> Result<Self, Problems> {
        if text.kind() != ValueKind::Object {
            let message = "failed to decode JSON input: the body is not an object";
            return Err(Problem::of_body(Code::Type, message).into());
        }
        let members = Members::of(text, names);
        match members.problems().is_empty() {
            true => Ok(Self(members)),
            false => Err(members.problems().clone()),
        }
    }

    /// The source text of a member.
    pub(crate) fn text(&self, name: &str) -> Option<Text<'a>> {
        self.0.optional(name)
    }

    /// A string, which can be empty.
    pub(crate) fn string(&self, name: &str) -> Result<Option<Cow<'a, str>>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.string() {
            Some(Ok(string)) if !string.contains('\0') => Ok(Some(string)),
            Some(_) => Err(Problem::new(name, Code::Format, "must be Unicode text without U+0000")),
            None => Err(Problem::new(name, Code::Type, "must be a string")),
        }
    }

    /// A string; an empty one equals absence.
    pub(crate) fn filled(&self, name: &str) -> Result<Option<Cow<'a, str>>, Problem> {
        Ok(self.string(name)?.filter(|string| !string.is_empty()))
    }

    /// A string, or a scalar as its text.
    pub(crate) fn scalar(&self, name: &str) -> Result<Option<Cow<'a, str>>, Problem> {
        match self.text(name) {
            Some(text) if matches!(text.kind(), ValueKind::Number | ValueKind::Boolean) => {
                Ok(Some(Cow::Borrowed(text.as_str())))
            }
            _ => self.filled(name),
        }
    }

    /// A whole number, also as a string.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Problem> {
        let Some(text) = self.scalar(name)? else { return Ok(None) };
        let number =
            text.parse().map_err(|_| Problem::new(name, Code::Type, "must be a whole number"));
        number.map(Some)
    }

    /// A boolean, also as a string.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, Problem> {
        let Some(text) = self.scalar(name)? else { return Ok(None) };
        let truth =
            truth(&text).ok_or_else(|| Problem::new(name, Code::Type, "must be true or false"));
        truth.map(Some)
    }

    /// Bytes in base64.
    pub(crate) fn bytes(&self, name: &str) -> Result<Option<Decoded>, Problem> {
        let Some(text) = self.string(name)? else { return Ok(None) };
        // The text can be a copy of a secret.
        let length = text.len();
        let decoded = decoded(&text);
        if let Cow::Owned(copy) = text {
            drop(Wiped::new(copy));
        }
        decoded.map(|bytes| Some((bytes, length)))
    }

    /// Bytes in base64 that are no secret; none if they are empty.
    pub(crate) fn public_bytes(&self, name: &str) -> Result<Vec<u8>, Problem> {
        let bytes = self.bytes(name)?;
        Ok(bytes.map_or_else(Vec::new, |(bytes, _)| bytes.to_vec()))
    }
}

/// Bytes that wipe themselves, and the length of their text.
type Decoded = (Wiped<Vec<u8>>, usize);

/// A value of a client as an error shows it. What is no short name can be a secret in a wrong place.
pub(crate) fn quoted(value: &str) -> String {
    match is_word(value) {
        true => format!("\"{value}\""),
        false => OTHER_FORM.to_owned(),
    }
}

/// The same without quotation marks, for the errors that Vault writes so.
pub(crate) fn unquoted(value: &str) -> &str {
    if is_word(value) { value } else { OTHER_FORM }
}

const OTHER_FORM: &str = "of another form";

fn is_word(value: &str) -> bool {
    const MOST: usize = 32;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    value.len() <= MOST && value.bytes().all(is_plain)
}

/// Standard base64 with padding, in lines or not.
fn decoded(text: &str) -> Result<Wiped<Vec<u8>>, Problem> {
    let has_lines = text.contains(['\n', '\r']);
    let joined = has_lines.then(|| Wiped::new(text.replace(['\n', '\r'], "")));
    let text = joined.as_ref().map_or(text, |joined| joined.as_str());
    let mut bytes = Wiped::new(vec![0; text.len().div_ceil(4) * 3]);
    match STANDARD.decode_slice(text, bytes.as_mut_slice()) {
        Ok(length) => {
            bytes.truncate(length);
            Ok(bytes)
        }
        Err(DecodeSliceError::DecodeError(error)) => {
            let place = match error {
                DecodeError::InvalidByte(place, _)
                | DecodeError::InvalidLastSymbol { offset: place, .. } => place,
                DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len(),
            };
            Err(not_base64(place))
        }
        Err(DecodeSliceError::OutputSliceTooSmall) => Err(not_base64(text.len())),
    }
}

fn not_base64(place: usize) -> Problem {
    Problem::of_body(Code::Format, format!("illegal base64 data at input byte {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_standard_and_padded_in_lines_or_not() {
        let read = |text| decoded(text).map(|bytes| bytes.to_vec());
        assert_eq!(read(""), Ok(vec![]));
        assert_eq!(read("aGVsbG8="), Ok(b"hello".to_vec()));
        assert_eq!(read("aGVs\r\nbG8=\n"), Ok(b"hello".to_vec()));
        for text in ["aGVsbG8", "aGVsbG9=", "-_8=", "?"] {
            let message = read(text).unwrap_err().message;
            assert!(message.starts_with("illegal base64 data at input byte"), "{text}");
        }
        assert_eq!(read("?").unwrap_err().message, "illegal base64 data at input byte 0");
    }

    #[test]
    fn numbers_and_booleans_can_be_strings() {
        let text = Text::parse(br#"{"a":"1","b":"true","c":2,"d":false,"e":null,"f":"","g":"x"}"#);
        let fields = Fields::of(text.unwrap(), &["a", "b", "c", "d", "e", "f", "g"]).unwrap();
        assert_eq!(fields.number("a"), Ok(Some(1)));
        assert_eq!(fields.number("c"), Ok(Some(2)));
        assert_eq!(fields.number("e"), Ok(None));
        assert_eq!(fields.number("f"), Ok(None));
        assert!(fields.number("g").is_err());
        assert_eq!(fields.boolean("b"), Ok(Some(true)));
        assert_eq!(fields.boolean("d"), Ok(Some(false)));
        assert!(fields.boolean("a").is_ok_and(|truth| truth == Some(true)));
        assert!(fields.boolean("g").is_err());
    }
}
