//! How bytes stand in JSON: base64 as applications send it, and base64url as JOSE demands it.

use base64::Engine as _;
use base64::engine::general_purpose::{
    STANDARD, STANDARD_PAD_INDIFFERENT, URL_SAFE_NO_PAD, URL_SAFE_PAD_INDIFFERENT,
};

/// The text is not base64 of the kind asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not base64")]
pub struct NotBase64;

/// Reads the base64 of the operations endpoint: standard or base64url, padded or not.
///
/// One text has one alphabet, and the bits left over at its end are zero, so no two unpadded texts
/// of one alphabet mean the same bytes.
pub fn from_base64(text: &str) -> Result<Vec<u8>, NotBase64> {
    let engine = if text.contains(['-', '_']) {
        URL_SAFE_PAD_INDIFFERENT
    } else {
        STANDARD_PAD_INDIFFERENT
    };
    engine.decode(text).map_err(|_| NotBase64)
}

/// Writes standard base64 with padding, as every answer has it.
#[must_use]
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Writes standard base64 with padding at the end of `out`.
pub fn append_base64(out: &mut String, bytes: &[u8]) {
    STANDARD.encode_string(bytes, out);
}

/// Reads canonical base64url without padding (RFC 7515, section 2): one text for every byte string.
pub fn from_base64url(text: &str) -> Result<Vec<u8>, NotBase64> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| NotBase64)
}

/// Reads base64url that may or may not be padded.
pub fn from_base64url_padded(text: &str) -> Result<Vec<u8>, NotBase64> {
    URL_SAFE_PAD_INDIFFERENT.decode(text).map_err(|_| NotBase64)
}

/// Writes base64url without padding.
#[must_use]
pub fn to_base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Writes base64url without padding at the end of `out`.
pub fn append_base64url(out: &mut String, bytes: &[u8]) {
    URL_SAFE_NO_PAD.encode_string(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_may_write_either_alphabet_with_or_without_padding() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(from_base64(text), Ok(vec![0xfb, 0xff]), "{text}");
        }
        assert_eq!(from_base64(""), Ok(vec![]));
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in [
            "+_8=", "a", "ab=", "a===", "Zh==", "Z g=", "Zg==\n", "é", "Zg==Zg==",
        ] {
            assert_eq!(from_base64(text), Err(NotBase64), "{text}");
        }
    }

    #[test]
    fn jose_takes_one_text_for_one_byte_string() {
        assert_eq!(from_base64url("-_8"), Ok(vec![0xfb, 0xff]));
        for text in ["-_8=", "+/8", "-_9", "-_8 ", "A", "-_8\0"] {
            assert_eq!(from_base64url(text), Err(NotBase64), "{text}");
        }
    }
}
