//! What is signed, verified and hashed of a JSON value: a string is its UTF-8 bytes, anything else
//! its RFC 8785 (JCS) bytes, so that neither white space nor the order of members matters.
//!
//! Two different values must never come to the same bytes, so what JCS cannot keep is refused
//! first: duplicate names, lone surrogates, and numbers that a double does not carry (`number.rs` says
//! which).

mod number;
mod tree;

use std::borrow::Cow;

use serde::Deserialize as _;

use self::number::is_carried;
use self::tree::Unambiguous;
use crate::json::Text;

/// Why a value has no bytes to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    #[error("an object has two members of the same name")]
    DuplicateName,
    #[error("a string has a lone surrogate in it")]
    LoneSurrogate,
    #[error("a number has more digits, or a greater exponent, than an IEEE 754 double carries")]
    Number,
}

/// The bytes to sign, verify or hash.
pub fn bytes(value: Text<'_>) -> Result<Cow<'_, [u8]>, NotCanonical> {
    match value.string() {
        Some(Ok(Cow::Borrowed(string))) => Ok(Cow::Borrowed(string.as_bytes())),
        Some(Ok(Cow::Owned(string))) => Ok(Cow::Owned(string.into_bytes())),
        Some(Err(_)) => Err(NotCanonical::LoneSurrogate),
        None => jcs(value).map(Cow::Owned),
    }
}

fn jcs(value: Text<'_>) -> Result<Vec<u8>, NotCanonical> {
    if !value.numbers().all(is_carried) {
        return Err(NotCanonical::Number);
    }
    let mut reader = serde_json::Deserializer::from_str(value.as_str());
    // A `Text` is never deeper than `json::MAX_DEPTH`.
    reader.disable_recursion_limit();
    let Unambiguous(tree) = Unambiguous::deserialize(&mut reader).map_err(|error| {
        // Of a well-formed text this is all that serde_json itself refuses.
        if error.is_data() {
            NotCanonical::DuplicateName
        } else {
            NotCanonical::LoneSurrogate
        }
    })?;
    serde_json_canonicalizer::to_vec(&tree).map_err(|_| NotCanonical::Number)
}

#[cfg(test)]
mod tests;
