//! The format of API keys, and their digest for storage.
//!
//! `sk_live_`, `sk_test_` or `sk_admin_`, then 256 random bits as 43 base-62 digits, then the
//! CRC-32 of these as 6 digits. The checksum rejects typing errors without a look-up, and helps
//! secret scanners.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::ApiKeyType;
use formats::clock::Entropy;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_DIGITS: usize = 43;
const CHECK_DIGITS: usize = 6;

/// An API key. It is wiped when dropped and never printed.
#[derive(Clone)]
pub struct ApiKeySecret {
    kind: ApiKeyType,
    text: SecretString,
}

/// The digest of an API key.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct ApiKeyDigest([u8; 32]);

/// The text is not an API key: its format or checksum is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an API key")]
pub struct Malformed;

impl ApiKeySecret {
    pub fn generate(entropy: &Entropy, kind: ApiKeyType) -> Self {
        let random = Zeroizing::new(entropy.bytes::<32>());
        let mut text = Zeroizing::new(String::with_capacity(64));
        text.push_str(kind.prefix());
        push_base62(&mut text, random.as_slice(), RANDOM_DIGITS);
        let check = crc32fast::hash(text.as_bytes());
        push_base62(&mut text, &check.to_be_bytes(), CHECK_DIGITS);
        Self { kind, text: SecretString::from(text.as_str()) }
    }

    /// Parses a key.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let kind = ApiKeyType::ALL
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))
            .ok_or(Malformed)?;
        let digits = text.strip_prefix(kind.prefix()).ok_or(Malformed)?;
        let right_form = digits.len() == RANDOM_DIGITS + CHECK_DIGITS
            && digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
        if !right_form {
            return Err(Malformed);
        }
        let (checked, check) = text.split_at_checked(text.len() - CHECK_DIGITS).ok_or(Malformed)?;
        if !is_base62_of(check, crc32fast::hash(checked.as_bytes())) {
            return Err(Malformed);
        }
        Ok(Self { kind, text: SecretString::from(text) })
    }

    /// The type in its prefix.
    pub fn kind(&self) -> ApiKeyType {
        self.kind
    }

    pub fn at_rest(&self) -> ApiKeyDigest {
        ApiKeyDigest(Sha256::digest(self.text.expose_secret().as_bytes()).into())
    }

    /// The last four characters, for display. They belong to the checksum and reveal almost
    /// nothing.
    pub fn last_four(&self) -> &str {
        let text = self.text.expose_secret();
        text.get(text.len().saturating_sub(4)..).unwrap_or_default()
    }
}

impl ExposeSecret<str> for ApiKeySecret {
    fn expose_secret(&self) -> &str {
        self.text.expose_secret()
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[redacted]", self.kind.prefix())
    }
}

impl ApiKeyDigest {
    /// The digest from the database.
    pub fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The digest for the database.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether both digests are equal, in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for ApiKeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Appends a big-endian number as exactly `count` digits, highest first.
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

/// Whether the digits, highest first, are those of the number.
fn is_base62_of(digits: &str, mut number: u32) -> bool {
    let all = digits.bytes().rev().all(|digit| {
        let remainder = u8::try_from(number % 62).unwrap_or_default();
        number /= 62;
        DIGITS.get(usize::from(remainder)) == Some(&digit)
    });
    all && number == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_key_round_trips() {
        for kind in ApiKeyType::ALL {
            let key = ApiKeySecret::generate(&Entropy::system(), kind);
            let text = key.expose_secret();
            assert_eq!(text.len(), kind.prefix().len() + 49);
            let read = ApiKeySecret::parse(text).unwrap();
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
        assert_eq!(written(&[255; 32], 44), "0yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
    }

    #[test]
    fn every_changed_character_is_detected() {
        let key = ApiKeySecret::generate(&Entropy::system(), ApiKeyType::Live);
        let text = key.expose_secret();
        for place in 0..text.len() {
            let mut changed = text.as_bytes().to_vec();
            changed[place] = if changed[place] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(ApiKeySecret::parse(&changed).err(), Some(Malformed), "{place}");
        }
    }

    #[test]
    fn keys_are_redacted() {
        let key = ApiKeySecret::generate(&Entropy::system(), ApiKeyType::Admin);
        assert_eq!(format!("{key:?}"), "sk_admin_[redacted]");
        assert_eq!(format!("{:?}", key.at_rest()), "[redacted]");
    }

    proptest! {
        #[test]
        fn an_invalid_key_is_refused(text in "\\PC*") {
            prop_assert!(ApiKeySecret::parse(&text).is_err());
            let with_prefix = format!("sk_live_{}", text);
            prop_assert!(ApiKeySecret::parse(&with_prefix).is_err());
        }
    }
}
