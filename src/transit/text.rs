//! The texts of ciphertexts, signatures and MACs: `vault:v`, the version of the key, `:` and base64.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use engine::keys::KeyVersion;

const PREFIX: &str = "vault:v";

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAText {
    NoPrefix,
    Fields,
    Version,
    Base64,
}

/// The version and the bytes of a text in this form.
pub(crate) fn parse(text: &str, is_url_safe: bool) -> Result<(KeyVersion, Vec<u8>), NotAText> {
    let rest = text.strip_prefix(PREFIX).ok_or(NotAText::NoPrefix)?;
    let (version, encoded) = rest.split_once(':').ok_or(NotAText::Fields)?;
    if encoded.contains(':') {
        return Err(NotAText::Fields);
    }
    let is_plain = version.bytes().all(|byte| byte.is_ascii_digit())
        && (version.len() == 1 || !version.starts_with('0'));
    let number = version.parse::<i64>().ok().filter(|_| is_plain).ok_or(NotAText::Version)?;
    let engine = if is_url_safe { URL_SAFE_NO_PAD } else { STANDARD };
    let bytes = engine.decode(encoded).map_err(|_| NotAText::Base64)?;
    // Old texts have the version 0, which is the first one.
    Ok((KeyVersion::of(number.max(1)), bytes))
}

/// The text of these bytes, which follow one another.
pub(crate) fn write(version: KeyVersion, parts: &[&[u8]], is_url_safe: bool) -> String {
    let bytes = parts.concat();
    let mut text = format!("{PREFIX}{version}:");
    match is_url_safe {
        true => URL_SAFE_NO_PAD.encode_string(bytes, &mut text),
        false => STANDARD.encode_string(bytes, &mut text),
    }
    text
}

impl NotAText {
    /// The error message about a text of this `kind`. `base64` is the message about bad base64.
    pub(crate) fn message(self, kind: &str, base64: &'static str) -> String {
        let problem = match self {
            Self::NoPrefix => "no prefix",
            Self::Fields => "wrong number of fields",
            Self::Version => "version number could not be decoded",
            Self::Base64 => return base64.to_owned(),
        };
        format!("invalid {kind}: {problem}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_version_and_canonical_base64() {
        let read = |text| parse(text, false).map(|(version, bytes)| (version.number(), bytes));
        assert_eq!(read("vault:v12:AAE="), Ok((12, vec![0, 1])));
        assert_eq!(read("vault:v0:"), Ok((1, vec![])));
        for (text, error) in [
            ("v1:AAE=", NotAText::NoPrefix),
            ("vault:1:AAE=", NotAText::NoPrefix),
            ("vault:v1", NotAText::Fields),
            ("vault:v1:AAE=:", NotAText::Fields),
            ("vault:v:AAE=", NotAText::Version),
            ("vault:v+1:AAE=", NotAText::Version),
            ("vault:v01:AAE=", NotAText::Version),
            ("vault:v-1:AAE=", NotAText::Version),
            ("vault:v9999999999999999999:AAE=", NotAText::Version),
            ("vault:v1:AAE", NotAText::Base64),
            ("vault:v1:AAF=", NotAText::Base64),
            ("vault:v1:AA E=", NotAText::Base64),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
        assert_eq!(write(KeyVersion::of(3), &[&[0], &[1]], false), "vault:v3:AAE=");
        assert_eq!(write(KeyVersion::of(3), &[&[0xfb, 0xff]], true), "vault:v3:-_8");
    }
}
