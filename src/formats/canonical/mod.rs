//! The bytes of a JSON value that are signed, verified or hashed: the UTF-8 bytes of a string, the
//! RFC 8785 (JCS) bytes of any other value. White space and the order of members do not matter.
//!
//! Different values never have the same bytes: duplicate names, lone surrogates, and numbers
//! that a double cannot represent (see `number.rs`) are refused.

#![deny(clippy::wildcard_enum_match_arm)]

mod number;
mod writer;

use std::borrow::Cow;

use self::number::is_representable;
use self::writer::Writer;
use crate::json::{NotATree, Text};
use crate::problem::{Code, Problem};

/// The value has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    #[error(transparent)]
    Ambiguous(#[from] NotATree),
    #[error("must not have numbers beyond the digits or exponent of an IEEE 754 double")]
    Number,
}

impl From<NotCanonical> for Problem {
    fn from(error: NotCanonical) -> Self {
        let code = match error {
            NotCanonical::Ambiguous(NotATree::DuplicateName) => Code::Conflict,
            NotCanonical::Ambiguous(NotATree::LoneSurrogate) | NotCanonical::Number => Code::Format,
        };
        Self::of_body(code, error.to_string())
    }
}

/// The bytes to sign, verify or hash.
pub fn bytes(value: Text<'_>) -> Result<Cow<'_, [u8]>, NotCanonical> {
    match value.string() {
        Some(Ok(Cow::Borrowed(string))) => Ok(Cow::Borrowed(string.as_bytes())),
        Some(Ok(Cow::Owned(string))) => Ok(Cow::Owned(string.into_bytes())),
        Some(Err(_)) => Err(NotATree::LoneSurrogate.into()),
        None => jcs(value).map(Cow::Owned),
    }
}

fn jcs(value: Text<'_>) -> Result<Vec<u8>, NotCanonical> {
    if !value.numbers().all(is_representable) {
        return Err(NotCanonical::Number);
    }
    let mut written = Vec::with_capacity(value.as_str().len());
    value.visit(Writer(&mut written))?;
    Ok(written)
}

#[cfg(test)]
mod tests;
