//! How bytes stand in JSON: base64 as applications send it, and base64url as JOSE demands it.

use base64::Engine as _;
use base64::engine::general_purpose::{
    STANDARD, STANDARD_PAD_INDIFFERENT, URL_SAFE_NO_PAD, URL_SAFE_PAD_INDIFFERENT,
};

/// The text is not base64 of the kind asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBase64 {
    /// It has a character outside the alphabet, or padding where none belongs.
    #[error("not base64")]
    OtherForm,
    /// Each character is right, and together they are no whole bytes: the last of them leaves bits
    /// over, because the text was cut or altered at its end.
    #[error("base64 with bits left over at its end")]
    BitsLeftOver,
}

/// Reads the base64 of the operations endpoint: standard or base64url, padded or not.
///
/// One text has one alphabet, and the bits left over at its end are zero, so no two unpadded texts
/// of one alphabet mean the same bytes.
pub fn from_base64(text: &str) -> Result<Vec<u8>, NotBase64> {
    let (engine, beyond_letters) = if text.contains(['-', '_']) {
        (URL_SAFE_PAD_INDIFFERENT, OF_BASE64URL)
    } else {
        (STANDARD_PAD_INDIFFERENT, OF_BASE64)
    };
    engine
        .decode(text)
        .map_err(|_| fault_of(without_padding(text), beyond_letters))
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
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| fault_of(text, OF_BASE64URL))
}

/// Reads base64url that may or may not be padded.
pub fn from_base64url_padded(text: &str) -> Result<Vec<u8>, NotBase64> {
    URL_SAFE_PAD_INDIFFERENT
        .decode(text)
        .map_err(|_| fault_of(without_padding(text), OF_BASE64URL))
}

/// The bytes of what cryptography is to judge. Text that leaves bits over counts as no bytes at all,
/// which is a wrong length: no key, IV, tag, signature, coordinate or sealed JSON is empty.
///
/// What was cut or altered at its end is as wrong as what was altered elsewhere, and is to be answered
/// alike. Only a character that is none of the alphabet is told as what it is.
pub fn bytes_to_judge(read: Result<Vec<u8>, NotBase64>) -> Result<Vec<u8>, NotBase64> {
    match read {
        Err(NotBase64::BitsLeftOver) => Ok(Vec::new()),
        Ok(_) | Err(NotBase64::OtherForm) => read,
    }
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

/// What each alphabet has beside letters and digits.
const OF_BASE64: [u8; 2] = *b"+/";
const OF_BASE64URL: [u8; 2] = *b"-_";

/// What is wrong with a text that does not decode. The alphabet decides, because the decoder looks at
/// the length first and tells no more than that.
fn fault_of(unpadded: &str, beyond_letters: [u8; 2]) -> NotBase64 {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || beyond_letters.contains(&byte);
    if unpadded.bytes().all(is_known) {
        NotBase64::BitsLeftOver
    } else {
        NotBase64::OtherForm
    }
}

/// The text without the padding that fills its last group up to four characters; any other padding
/// stays, and is a wrong character.
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
    fn applications_may_write_either_alphabet_with_or_without_padding() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(from_base64(text), Ok(vec![0xfb, 0xff]), "{text}");
        }
        assert_eq!(from_base64(""), Ok(vec![]));
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in [
            "+_8=", "ab=", "a===", "=", "====", "abcd====", "Z g=", "Zg==\n", "é", "aé", "Zg==Zg==",
        ] {
            assert_eq!(from_base64(text), Err(OtherForm), "{text}");
        }
    }

    #[test]
    fn jose_takes_one_text_for_one_byte_string() {
        assert_eq!(from_base64url("-_8"), Ok(vec![0xfb, 0xff]));
        for text in ["-_8=", "+/8", "-_8 ", "-_8\0", "A=", "Zh=="] {
            assert_eq!(from_base64url(text), Err(OtherForm), "{text}");
        }
        for text in ["A", "-_9", "Zh", "-_8AA"] {
            assert_eq!(from_base64url(text), Err(BitsLeftOver), "{text}");
        }
    }

    #[test]
    fn bits_left_over_are_told_from_another_form() {
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
