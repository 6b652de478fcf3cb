//! The form of an API key: live, as a client holds it, and at rest, as the database does.
//!
//! `sk_live_`, `sk_test_` or `sk_admin_`, then 256 random bits as 43 digits in base 62, then the
//! CRC-32 of all that as 6 such digits. The checksum refuses typing errors without a look-up, and
//! lets scanners for leaked secrets tell a key from what only looks like one.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::Kind;
use crate::clock::Entropy;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_DIGITS: usize = 43;
const CHECK_DIGITS: usize = 6;

/// A whole API key, as its client sends it. It wipes itself and is never shown.
#[derive(Clone)]
pub struct LiveKey {
    kind: Kind,
    text: SecretString,
}

/// What is kept of an API key: enough to know it again, too little to use it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AtRest([u8; 32]);

/// The text is no API key: another form, or a wrong checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an API key")]
pub struct Malformed;

impl LiveKey {
    /// Makes a new key.
    #[must_use]
    pub fn generate(entropy: &Entropy, kind: Kind) -> Self {
        let random = Zeroizing::new(entropy.bytes::<32>());
        let mut text = Zeroizing::new(String::with_capacity(64));
        text.push_str(kind.prefix());
        push_base62(&mut text, random.as_slice(), RANDOM_DIGITS);
        let check = crc32fast::hash(text.as_bytes());
        push_base62(&mut text, &check.to_be_bytes(), CHECK_DIGITS);
        Self {
            kind,
            text: SecretString::from(text.as_str()),
        }
    }

    /// Reads a key as a client sends it.
    ///
    /// # Errors
    /// When it does not have the form of a key, down to the checksum.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))
            .ok_or(Malformed)?;
        let digits = text.strip_prefix(kind.prefix()).ok_or(Malformed)?;
        let right_form = digits.len() == RANDOM_DIGITS + CHECK_DIGITS
            && digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
        if !right_form {
            return Err(Malformed);
        }
        let (checked, check) = text
            .split_at_checked(text.len() - CHECK_DIGITS)
            .ok_or(Malformed)?;
        let mut expected = String::with_capacity(CHECK_DIGITS);
        push_base62(
            &mut expected,
            &crc32fast::hash(checked.as_bytes()).to_be_bytes(),
            CHECK_DIGITS,
        );
        if expected != check {
            return Err(Malformed);
        }
        Ok(Self {
            kind,
            text: SecretString::from(text),
        })
    }

    /// What it is for, as its prefix says.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What is kept of it.
    #[must_use]
    pub fn at_rest(&self) -> AtRest {
        AtRest(Sha256::digest(self.text.expose_secret().as_bytes()).into())
    }

    /// The last four characters, by which people tell keys apart. They are part of the checksum and
    /// tell next to nothing of the rest.
    #[must_use]
    pub fn last_four(&self) -> &str {
        let text = self.text.expose_secret();
        text.get(text.len().saturating_sub(4)..).unwrap_or_default()
    }
}

impl ExposeSecret<str> for LiveKey {
    fn expose_secret(&self) -> &str {
        self.text.expose_secret()
    }
}

impl fmt::Debug for LiveKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[redacted]", self.kind.prefix())
    }
}

impl AtRest {
    /// What the database holds.
    #[must_use]
    pub fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// What the database shall hold.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether both come from one key, in a time that tells nothing of where they differ.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for AtRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Appends a big-endian number as exactly `count` digits, the highest first.
fn push_base62(text: &mut String, number: &[u8], count: usize) {
    let mut rest = Zeroizing::new(number.to_vec());
    let mut digits = Zeroizing::new(vec![b'0'; count]);
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u16;
        for byte in rest.iter_mut() {
            let value = (remainder << 8) | u16::from(*byte);
            // A remainder below 62 keeps the quotient below 256.
            *byte = u8::try_from(value / 62).unwrap_or(u8::MAX);
            remainder = value % 62;
        }
        *digit = DIGITS.get(usize::from(remainder)).copied().unwrap_or(b'0');
    }
    text.extend(digits.iter().map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_key_reads_back_as_itself() {
        for kind in Kind::ALL {
            let key = LiveKey::generate(&Entropy::system(), kind);
            let text = key.expose_secret();
            assert_eq!(text.len(), kind.prefix().len() + 49);
            let read = LiveKey::parse(text).unwrap();
            assert_eq!(read.kind(), kind);
            assert!(read.at_rest().matches(&key.at_rest()));
            assert!(text.ends_with(key.last_four()));
        }
    }

    #[test]
    fn numbers_are_written_in_base_62() {
        let written = |number: &[u8], count| {
            let mut text = String::new();
            push_base62(&mut text, number, count);
            text
        };
        assert_eq!(written(&[0], 3), "000");
        assert_eq!(written(&[61], 3), "00z");
        assert_eq!(written(&[62], 3), "010");
        assert_eq!(written(&u32::MAX.to_be_bytes(), 6), "4gfFC3");
        // 2^256 - 1 needs all 43 digits and no more.
        assert_eq!(
            written(&[255; 32], 44),
            "0yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"
        );
    }

    #[test]
    fn any_changed_character_is_noticed() {
        let key = LiveKey::generate(&Entropy::system(), Kind::Live);
        let text = key.expose_secret();
        for place in 0..text.len() {
            let mut changed = text.as_bytes().to_vec();
            changed[place] = if changed[place] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(LiveKey::parse(&changed).err(), Some(Malformed), "{place}");
        }
    }

    #[test]
    fn nothing_of_a_key_is_shown() {
        let key = LiveKey::generate(&Entropy::system(), Kind::Admin);
        assert_eq!(format!("{key:?}"), "sk_admin_[redacted]");
        assert_eq!(format!("{:?}", key.at_rest()), "[redacted]");
    }

    proptest! {
        #[test]
        fn what_is_not_a_key_is_refused(text in "\\PC*") {
            prop_assert!(LiveKey::parse(&text).is_err());
            let with_prefix = format!("sk_live_{}", text);
            prop_assert!(LiveKey::parse(&with_prefix).is_err());
        }
    }
}
