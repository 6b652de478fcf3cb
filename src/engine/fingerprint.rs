//! The SHA-256 fingerprint of a certificate.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::openapi::schema::{ObjectBuilder, Type as JsonType};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The SHA-256 of a certificate in DER.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

/// The text is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the SHA-256 of a certificate: 64 hexadecimal digits, with or without colons")]
pub struct NotAFingerprint;

impl Fingerprint {
    /// The fingerprint of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 hexadecimal digits in any case. `openssl x509 -fingerprint` separates the bytes with colons.
impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let digits: Cow<'_, str> = match text.len() {
            64 => text.into(),
            95 if text.split(':').all(|byte| byte.len() == 2) => text.replace(':', "").into(),
            _ => return Err(NotAFingerprint),
        };
        let mut bytes = [0; 32];
        let (pairs, _) = digits.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() {
            return Err(NotAFingerprint);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = (nibble(*high)? << 4) | nibble(*low)?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, NotAFingerprint> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(NotAFingerprint),
    }
}

/// 64 hexadecimal digits in lower case.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl PartialSchema for Fingerprint {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(JsonType::String)
            .description(Some(
                "The SHA-256 of a certificate in DER: 64 hexadecimal digits. Requests can separate the \
                 bytes with colons.",
            ))
            .pattern(Some("^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$"))
            .into()
    }
}

impl ToSchema for Fingerprint {
    fn name() -> Cow<'static, str> {
        "CertificateSha256".into()
    }
}

impl Type<Postgres> for Fingerprint {
    fn type_info() -> PgTypeInfo {
        <[u8; 32]>::type_info()
    }
}

impl Encode<'_, Postgres> for Fingerprint {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.0.encode_by_ref(buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Fingerprint {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(<[u8; 32]>::decode(value)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_case_with_or_without_colons_are_read() {
        let fingerprint = Fingerprint::of(b"certificate");
        let plain = fingerprint.to_string();
        assert_eq!(plain.len(), 64);
        let pairs: Vec<&str> =
            plain.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap()).collect();
        let separated = pairs.join(":");
        for text in
            [plain.clone(), plain.to_uppercase(), separated.clone(), separated.to_uppercase()]
        {
            assert_eq!(text.parse(), Ok(fingerprint), "{text}");
        }
        for wrong in [
            String::new(),
            plain[1..].to_owned(),
            format!("{plain}0"),
            format!(" {plain}"),
            plain.replacen(|_: char| true, "g", 1),
            separated.replacen(':', "-", 1),
            separated.replacen(':', "", 1),
            format!("{}:", &separated[..94]),
            "é".repeat(32),
        ] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(NotAFingerprint), "{wrong}");
        }
    }
}
