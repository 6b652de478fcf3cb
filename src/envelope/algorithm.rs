//! The algorithms an envelope may name.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::agreement;
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm};
use serde::{Deserialize, Serialize};

/// How the content key is wrapped: the header's `alg` (RFC 7518, section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Alg {
    #[default]
    #[serde(rename = "RSA-OAEP-256")]
    RsaOaep256,
    #[serde(rename = "RSA-OAEP")]
    RsaOaep,
    #[serde(rename = "ECDH-ES+A256KW")]
    EcdhEsA256Kw,
    #[serde(rename = "ECDH-ES+A128KW")]
    EcdhEsA128Kw,
}

/// How the content is encrypted: the header's `enc` (RFC 7518, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Enc {
    #[default]
    A256GCM,
    A128GCM,
}

/// The kind of key pair that an `alg` needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    Rsa,
    Ec,
}

/// The hash of RSA-OAEP, for the label and for MGF1 alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OaepHash {
    Sha1,
    Sha256,
}

/// The curves of ECDH-ES.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    P256,
    P384,
    P521,
}

impl Alg {
    /// All of them, the one to prefer first.
    pub const ALL: [Self; 4] = [
        Self::RsaOaep256,
        Self::RsaOaep,
        Self::EcdhEsA256Kw,
        Self::EcdhEsA128Kw,
    ];

    /// Its registered name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RsaOaep256 => "RSA-OAEP-256",
            Self::RsaOaep => "RSA-OAEP",
            Self::EcdhEsA256Kw => "ECDH-ES+A256KW",
            Self::EcdhEsA128Kw => "ECDH-ES+A128KW",
        }
    }

    /// The keys it works with.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::RsaOaep256 | Self::RsaOaep => Family::Rsa,
            Self::EcdhEsA256Kw | Self::EcdhEsA128Kw => Family::Ec,
        }
    }
}

impl Enc {
    /// All of them, the one to prefer first.
    pub const ALL: [Self; 2] = [Self::A256GCM, Self::A128GCM];

    /// Its registered name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::A256GCM => "A256GCM",
            Self::A128GCM => "A128GCM",
        }
    }

    /// The length of the content key in bytes.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self {
            Self::A256GCM => 32,
            Self::A128GCM => 16,
        }
    }
}

impl OaepHash {
    pub(super) fn algorithm(self) -> &'static OaepAlgorithm {
        match self {
            Self::Sha1 => &OAEP_SHA1_MGF1SHA1,
            Self::Sha256 => &OAEP_SHA256_MGF1SHA256,
        }
    }
}

impl Curve {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::P256, Self::P384, Self::P521];

    /// Its name in a JWK.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// The length of a coordinate in bytes, which is also that of the shared secret.
    #[must_use]
    pub fn coordinate_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    pub(super) fn algorithm(self) -> &'static agreement::Algorithm {
        match self {
            Self::P256 => &agreement::ECDH_P256,
            Self::P384 => &agreement::ECDH_P384,
            Self::P521 => &agreement::ECDH_P521,
        }
    }
}

/// A name that is none of the algorithms offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such algorithm is offered")]
pub struct UnknownName;

impl FromStr for Alg {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|alg| alg.name() == name)
            .ok_or(UnknownName)
    }
}

impl FromStr for Enc {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|enc| enc.name() == name)
            .ok_or(UnknownName)
    }
}

impl FromStr for Curve {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|curve| curve.name() == name)
            .ok_or(UnknownName)
    }
}

impl fmt::Display for Alg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Enc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_is_the_same_in_json() {
        for alg in Alg::ALL {
            assert_eq!(alg.name().parse(), Ok(alg));
            assert_eq!(serde_json::to_value(alg).unwrap(), alg.name());
        }
        for enc in Enc::ALL {
            assert_eq!(enc.name().parse(), Ok(enc));
            assert_eq!(serde_json::to_value(enc).unwrap(), enc.name());
        }
        assert_eq!("rsa-oaep".parse::<Alg>(), Err(UnknownName));
        assert_eq!("RSA1_5".parse::<Alg>(), Err(UnknownName));
    }
}
