//! What kinds of key there are.

use std::fmt;
use std::str::FromStr;

/// The kinds of key that are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// RSA with a modulus of 2048 bits.
    Rsa2048,
    /// RSA with a modulus of 3072 bits.
    Rsa3072,
    /// RSA with a modulus of 4096 bits.
    Rsa4096,
    /// The curve P-256 of NIST.
    P256,
    /// The curve P-384 of NIST.
    P384,
    /// The curve P-521 of NIST.
    P521,
    /// Signatures of RFC 8032.
    Ed25519,
    /// AES with 256 bits.
    Aes256,
    /// AES with 128 bits.
    Aes128,
    /// HMAC with SHA-256.
    HmacSha256,
}

/// Kinds of key that stand in for each other: of one family a service has one active envelope key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// RSA of any length.
    Rsa,
    /// The curves of NIST.
    Ec,
    /// Ed25519.
    Ed25519,
    /// AES of any length.
    Aes,
    /// HMAC.
    Hmac,
}

/// The curves of NIST that are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// P-521.
    P521,
}

/// The text names no algorithm that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an algorithm that is offered")]
pub struct UnknownAlgorithm;

impl Algorithm {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Rsa2048,
        Self::Rsa3072,
        Self::Rsa4096,
        Self::P256,
        Self::P384,
        Self::P521,
        Self::Ed25519,
        Self::Aes256,
        Self::Aes128,
        Self::HmacSha256,
    ];

    /// The name in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa3072 => "RSA-3072",
            Self::Rsa4096 => "RSA-4096",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
            Self::Ed25519 => "Ed25519",
            Self::Aes256 => "AES-256",
            Self::Aes128 => "AES-128",
            Self::HmacSha256 => "HMAC-SHA256",
        }
    }

    /// The family it belongs to.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => Family::Rsa,
            Self::P256 | Self::P384 | Self::P521 => Family::Ec,
            Self::Ed25519 => Family::Ed25519,
            Self::Aes256 | Self::Aes128 => Family::Aes,
            Self::HmacSha256 => Family::Hmac,
        }
    }

    /// The curve, for keys of the NIST curves.
    #[must_use]
    pub const fn curve(self) -> Option<Curve> {
        match self {
            Self::P256 => Some(Curve::P256),
            Self::P384 => Some(Curve::P384),
            Self::P521 => Some(Curve::P521),
            Self::Rsa2048
            | Self::Rsa3072
            | Self::Rsa4096
            | Self::Ed25519
            | Self::Aes256
            | Self::Aes128
            | Self::HmacSha256 => None,
        }
    }

    /// Whether it is one secret key rather than a pair.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self.family(), Family::Aes | Family::Hmac)
    }
}

impl Family {
    /// The name in the database and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::Ec => "EC",
            Self::Ed25519 => "Ed25519",
            Self::Aes => "AES",
            Self::Hmac => "HMAC",
        }
    }
}

impl Curve {
    /// The name in JWK.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.algorithm().name()
    }

    /// The curve that JWK calls so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok().and_then(Algorithm::curve)
    }

    /// Bytes of a coordinate.
    #[must_use]
    pub const fn coordinate_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// The kind of key on this curve.
    #[must_use]
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::P256 => Algorithm::P256,
            Self::P384 => Algorithm::P384,
            Self::P521 => Algorithm::P521,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == text)
            .ok_or(UnknownAlgorithm)
    }
}

impl<'de> serde::Deserialize<'de> for Algorithm {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for Algorithm {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_as_its_algorithm() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        assert_eq!("rsa-2048".parse::<Algorithm>(), Err(UnknownAlgorithm));
    }
}
