//! Every kind of key and algorithm that tokens are used with, each with its name.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::KeyClass;

/// The text is not the name of a known algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an algorithm that is offered")]
pub struct UnknownAlgorithm;

/// Declares closed sets of values, each with the one table of its names.
macro_rules! named {
    ($($(#[$attribute:meta])* pub enum $set:ident {
        $($(#[$description:meta])* $value:ident = $name:literal,)+
    })+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $set {
            $($(#[$description])* $value,)+
        }

        impl $set {
            /// Every value, in the order in which lists show them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name in the API, in databases and in messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }

        impl fmt::Display for $set {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $set {
            type Err = UnknownAlgorithm;

            fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
                let mut all = Self::ALL.into_iter();
                all.find(|value| value.name() == text).ok_or(UnknownAlgorithm)
            }
        }

        impl<'de> Deserialize<'de> for $set {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <Cow<'_, str>>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }

        impl Serialize for $set {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    )+};
}

named! {
    /// The kinds of key that are generated and used.
    pub enum Algorithm {
        /// RSA with a modulus of 2048 bits.
        Rsa2048 = "RSA-2048",
        /// RSA with a modulus of 3072 bits.
        Rsa3072 = "RSA-3072",
        /// RSA with a modulus of 4096 bits.
        Rsa4096 = "RSA-4096",
        /// An EC key on NIST P-256.
        P256 = "P-256",
        /// An EC key on NIST P-384.
        P384 = "P-384",
        /// An EC key on NIST P-521.
        P521 = "P-521",
        /// An EdDSA key on edwards25519 (RFC 8032).
        Ed25519 = "Ed25519",
        /// AES with 256 bits.
        Aes256 = "AES-256",
        /// AES with 128 bits.
        Aes128 = "AES-128",
        /// A secret of at least 32 bytes for HMAC with SHA-256.
        HmacSha256 = "HMAC-SHA256",
    }

    /// The families of algorithms: the members of one family differ in size only.
    pub enum Family {
        /// RSA of any modulus length.
        Rsa = "RSA",
        /// The NIST curves.
        Ec = "EC",
        /// Ed25519.
        Ed25519 = "Ed25519",
        /// AES of any key length.
        Aes = "AES",
        /// HMAC.
        Hmac = "HMAC",
    }

    /// The elliptic curves of ECDH and ECDSA keys.
    pub enum Curve {
        /// NIST P-256.
        P256 = "P-256",
        /// NIST P-384.
        P384 = "P-384",
        /// NIST P-521.
        P521 = "P-521",
    }

    /// The hash of RSA-OAEP, for the label and for MGF1 alike.
    pub enum OaepHash {
        /// JOSE's `RSA-OAEP`.
        Sha1 = "RSA-OAEP",
        /// JOSE's `RSA-OAEP-256`.
        Sha256 = "RSA-OAEP-256",
    }

    /// The signature algorithms. Messages are hashed in this process, except for Ed25519 and HMAC.
    pub enum SignatureScheme {
        /// PKCS#1 v1.5 with SHA-256.
        RsaPkcs1Sha256 = "RSA-SHA256",
        /// PKCS#1 v1.5 with SHA-384.
        RsaPkcs1Sha384 = "RSA-SHA384",
        /// PKCS#1 v1.5 with SHA-512.
        RsaPkcs1Sha512 = "RSA-SHA512",
        /// PSS with SHA-256 and a salt as long as the hash.
        RsaPssSha256 = "RSA-PSS-SHA256",
        /// PSS with SHA-384.
        RsaPssSha384 = "RSA-PSS-SHA384",
        /// PSS with SHA-512.
        RsaPssSha512 = "RSA-PSS-SHA512",
        /// P-256; the signature is r and s, concatenated.
        EcdsaSha256 = "ECDSA-SHA256",
        /// P-384.
        EcdsaSha384 = "ECDSA-SHA384",
        /// P-521.
        EcdsaSha512 = "ECDSA-SHA512",
        /// Ed25519 (RFC 8032) over the message itself.
        Ed25519 = "Ed25519",
        /// HMAC with SHA-256.
        HmacSha256 = "HMAC-SHA256",
    }

    /// How a key is wrapped for import: an ephemeral AES-256 key under RSA-OAEP, followed by the
    /// key (PKCS#8, or the bare bytes of a secret key) under the AES key with AES-KWP.
    pub enum ImportMechanism {
        /// RSA-OAEP with SHA-1.
        RsaOaepSha1AesKwp = "RSA_OAEP_SHA1_AES_KWP",
        /// RSA-OAEP with SHA-256.
        RsaOaepSha256AesKwp = "RSA_OAEP_SHA256_AES_KWP",
    }
}

/// What a key may be used for. The token enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Opening envelopes: RSA keys decrypt, EC keys derive.
    Envelope,
    /// Signatures and HMAC.
    Sign,
    /// AES-GCM encryption and decryption of data.
    Data,
    /// Unwrapping other keys into the token, and nothing else.
    Import,
}

/// The public half of a key pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// RSA: both numbers big-endian, without leading zeros.
    Rsa {
        /// The modulus `n`.
        modulus: Vec<u8>,
        /// The public exponent `e`.
        exponent: Vec<u8>,
    },
    /// A key on a NIST curve.
    Ec {
        /// The curve of the point.
        curve: Curve,
        /// The uncompressed point of SEC 1: 04, x, y.
        point: Vec<u8>,
    },
    /// An Ed25519 key.
    Ed25519 {
        /// The 32 bytes of RFC 8032.
        point: Vec<u8>,
    },
}

impl Algorithm {
    /// The family of the algorithm.
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

    /// The curve; none for keys that are not on a NIST curve.
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

    /// The length of the RSA modulus in bytes; none for other keys.
    #[must_use]
    pub const fn modulus_len(self) -> Option<usize> {
        match self {
            Self::Rsa2048 => Some(256),
            Self::Rsa3072 => Some(384),
            Self::Rsa4096 => Some(512),
            Self::P256
            | Self::P384
            | Self::P521
            | Self::Ed25519
            | Self::Aes256
            | Self::Aes128
            | Self::HmacSha256 => None,
        }
    }

    /// Whether tokens keep such keys as private or as secret keys.
    #[must_use]
    pub const fn class(self) -> KeyClass {
        match self.family() {
            Family::Rsa | Family::Ec | Family::Ed25519 => KeyClass::Private,
            Family::Aes | Family::Hmac => KeyClass::Secret,
        }
    }

    /// Whether it is one secret key rather than a pair.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self.class(), KeyClass::Secret)
    }
}

impl Curve {
    /// The curve that JWK calls by this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The length of a coordinate in bytes, which is also that of a shared secret.
    #[must_use]
    pub const fn coordinate_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// The length of an uncompressed point in bytes.
    #[must_use]
    pub const fn point_len(self) -> usize {
        1 + 2 * self.coordinate_len()
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

impl ImportMechanism {
    pub(crate) fn hash(self) -> OaepHash {
        match self {
            Self::RsaOaepSha1AesKwp => OaepHash::Sha1,
            Self::RsaOaepSha256AesKwp => OaepHash::Sha256,
        }
    }
}

impl PublicKey {
    /// The scheme that proves possession of the private half by a signature.
    pub(crate) fn signature_scheme(&self) -> SignatureScheme {
        match self {
            Self::Rsa { .. } => SignatureScheme::RsaPkcs1Sha256,
            Self::Ec { curve, .. } => match curve {
                Curve::P256 => SignatureScheme::EcdsaSha256,
                Curve::P384 => SignatureScheme::EcdsaSha384,
                Curve::P521 => SignatureScheme::EcdsaSha512,
            },
            Self::Ed25519 { .. } => SignatureScheme::Ed25519,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_as_their_values() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        for curve in Curve::ALL {
            assert_eq!(Curve::named(curve.algorithm().name()), Some(curve));
        }
        assert_eq!("rsa-2048".parse::<Algorithm>(), Err(UnknownAlgorithm));
    }
}
