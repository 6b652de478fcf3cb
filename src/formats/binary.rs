//! Bytes in JSON: base64 for applications, and base64url for JOSE.

use base64::Engine as _;
use base64::engine::general_purpose::{
    STANDARD, STANDARD_PAD_INDIFFERENT, URL_SAFE_NO_PAD, URL_SAFE_PAD_INDIFFERENT,
};

/// The text is not valid base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBase64 {
    /// It has a character outside the alphabet, or misplaced padding.
    #[error("not base64")]
    OtherForm,
    /// All characters are valid, but the end is not: the unused bits are not zero, or the length is
    /// impossible.
    #[error("base64 with bits left over at its end")]
    BitsLeftOver,
}

/// Reads the base64 of the operations endpoint: standard or base64url, padded or not.
///
/// A text uses one alphabet, and its unused bits are zero. Each byte string therefore has exactly one
/// unpadded text per alphabet.
pub fn from_base64(text: &str) -> Result<Vec<u8>, NotBase64> {
    let (engine, beyond_letters) = if text.contains(['-', '_']) {
        (URL_SAFE_PAD_INDIFFERENT, OF_BASE64URL)
    } else {
        (STANDARD_PAD_INDIFFERENT, OF_BASE64)
    };
    engine.decode(text).map_err(|_| fault_of(without_padding(text), beyond_letters))
}

/// Writes standard base64 with padding, the format of responses.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Writes standard base64 with padding at the end of `out`.
pub fn append_base64(out: &mut String, bytes: &[u8]) {
    STANDARD.encode_string(bytes, out);
}

/// Reads canonical base64url without padding (RFC 7515, section 2): one text for every byte string.
pub fn from_base64url(text: &str) -> Result<Vec<u8>, NotBase64> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| fault_of(text, OF_BASE64URL))
}

/// Reads base64url with or without padding.
pub(crate) fn from_base64url_padded(text: &str) -> Result<Vec<u8>, NotBase64> {
    URL_SAFE_PAD_INDIFFERENT.decode(text).map_err(|_| fault_of(without_padding(text), OF_BASE64URL))
}

/// The bytes for a cryptographic check. Text with an invalid end yields zero bytes, which is a wrong
/// length: no key, IV, tag, signature, coordinate or encrypted JSON is empty.
///
/// A change at the end of a text therefore has the same response as a change elsewhere. Only a
/// character outside the alphabet is an error of its own.
pub fn bytes_to_judge(read: Result<Vec<u8>, NotBase64>) -> Result<Vec<u8>, NotBase64> {
    match read {
        Err(NotBase64::BitsLeftOver) => Ok(Vec::new()),
        Ok(_) | Err(NotBase64::OtherForm) => read,
    }
}

/// Writes base64url without padding.
pub fn to_base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Writes base64url without padding at the end of `out`.
pub(crate) fn append_base64url(out: &mut String, bytes: &[u8]) {
    URL_SAFE_NO_PAD.encode_string(bytes, out);
}

/// The characters of the alphabets besides letters and digits.
const OF_BASE64: [u8; 2] = *b"+/";
const OF_BASE64URL: [u8; 2] = *b"-_";

/// The error of a text that does not decode. The alphabet determines it, because the decoder checks
/// the length first and reports only that.
fn fault_of(unpadded: &str, beyond_letters: [u8; 2]) -> NotBase64 {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || beyond_letters.contains(&byte);
    if unpadded.bytes().all(is_known) { NotBase64::BitsLeftOver } else { NotBase64::OtherForm }
}

/// The text without the padding that completes its last group of four characters. Other padding
/// remains and is an invalid character.
fn without_padding(text: &str) -> &str {
    let unpadded = text.trim_end_matches('=');
    match text.len() - unpadded.len() {
        1 | 2 if text.len().is_multiple_of(4) => unpadded,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::NotBase64::{BitsLeftOver, OtherForm};
    use super::*;

    #[test]
    fn applications_can_use_either_alphabet_with_or_without_padding() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(from_base64(text), Ok(vec![0xfb, 0xff]), "{text}");
        }
        assert_eq!(from_base64(""), Ok(vec![]));
    }

    #[test]
    fn invalid_base64_is_refused() {
        for text in [
            "+_8=", "ab=", "a===", "=", "====", "abcd====", "Z g=", "Zg==\n", "é", "aé", "Zg==Zg==",
        ] {
            assert_eq!(from_base64(text), Err(OtherForm), "{text}");
        }
    }

    #[test]
    fn jose_accepts_one_text_per_byte_string() {
        assert_eq!(from_base64url("-_8"), Ok(vec![0xfb, 0xff]));
        for text in ["-_8=", "+/8", "-_8 ", "-_8\0", "A=", "Zh=="] {
            assert_eq!(from_base64url(text), Err(OtherForm), "{text}");
        }
        for text in ["A", "-_9", "Zh", "-_8AA"] {
            assert_eq!(from_base64url(text), Err(BitsLeftOver), "{text}");
        }
    }

    #[test]
    fn remaining_bits_are_distinguished_from_another_form() {
        for text in ["a", "abcde", "Zh", "Zh==", "+/9=", "-_9=", "-_9"] {
            assert_eq!(from_base64(text), Err(BitsLeftOver), "{text}");
            let judged = bytes_to_judge(from_base64(text));
            assert_eq!(judged, Ok(vec![]), "{text}");
        }
        assert_eq!(from_base64url_padded("-_9="), Err(BitsLeftOver));
        assert_eq!(from_base64url_padded("+/9="), Err(OtherForm));
        assert_eq!(bytes_to_judge(from_base64("*")), Err(OtherForm));
        assert_eq!(bytes_to_judge(from_base64("Zg")), Ok(b"f".to_vec()));
    }
}
