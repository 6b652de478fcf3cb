//! Every kind of key and algorithm that tokens are used with, each with its name.

use aws_lc_rs::agreement;
use aws_lc_rs::signature::{ML_DSA_44, ML_DSA_65, ML_DSA_87, PqdsaVerificationAlgorithm};

use crate::{Kem, KeyClass, closed_set};

closed_set! {
    /// The supported key algorithms.
    pub enum Algorithm: "KeyAlgorithm" {
        /// RSA with a modulus of 2048 bits.
        Rsa2048 = "RSA-2048",
        /// RSA with a modulus of 3072 bits.
        Rsa3072 = "RSA-3072",
        /// RSA with a modulus of 4096 bits.
        Rsa4096 = "RSA-4096",
        /// The curve NIST P-256.
        P256 = "P-256",
        /// The curve NIST P-384.
        P384 = "P-384",
        /// The curve NIST P-521.
        P521 = "P-521",
        /// Signatures of RFC 8032.
        Ed25519 = "Ed25519",
        /// Signatures of FIPS 204, category 2.
        MlDsa44 = "ML-DSA-44",
        /// Signatures of FIPS 204, category 3.
        MlDsa65 = "ML-DSA-65",
        /// Signatures of FIPS 204, category 5.
        MlDsa87 = "ML-DSA-87",
        /// Key encapsulation of FIPS 203, category 3.
        MlKem768 = "ML-KEM-768",
        /// Key encapsulation of FIPS 203, category 5.
        MlKem1024 = "ML-KEM-1024",
        /// ML-KEM-768 and ECDH on P-256: a key of each in the token, and both secrets combined.
        P256MlKem768 = "P-256+ML-KEM-768",
        /// AES with 256 bits.
        Aes256 = "AES-256",
        /// AES with 128 bits.
        Aes128 = "AES-128",
        /// HMAC with SHA-256.
        HmacSha256 = "HMAC-SHA256",
    }
}

closed_set! {
    /// Key algorithms that replace each other: a service has one active envelope key per family.
    pub enum Family: "KeyFamily" {
        /// RSA of any length.
        Rsa = "RSA",
        /// The NIST curves.
        Ec = "EC",
        /// Ed25519.
        Ed25519 = "Ed25519",
        /// ML-DSA of any parameter set.
        MlDsa = "ML-DSA",
        /// ML-KEM-768.
        MlKem768 = "ML-KEM-768",
        /// ML-KEM-1024.
        MlKem1024 = "ML-KEM-1024",
        /// ML-KEM-768 together with P-256.
        P256MlKem768 = "P-256+ML-KEM-768",
        /// AES of any length.
        Aes = "AES",
        /// HMAC.
        Hmac = "HMAC",
    }
}

closed_set! {
    /// The NIST curves.
    pub enum Curve: "Curve" {
        /// P-256.
        P256 = "P-256",
        /// P-384.
        P384 = "P-384",
        /// P-521.
        P521 = "P-521",
    }
}

closed_set! {
    /// The parameter sets of ML-DSA (FIPS 204).
    pub enum MlDsa: "MlDsa" {
        /// ML-DSA-44.
        MlDsa44 = "ML-DSA-44",
        /// ML-DSA-65.
        MlDsa65 = "ML-DSA-65",
        /// ML-DSA-87.
        MlDsa87 = "ML-DSA-87",
    }
}

closed_set! {
    /// The hash of RSA-OAEP, for the label and for MGF1 alike.
    pub enum OaepHash: "OaepHash" {
        /// JOSE's `RSA-OAEP`.
        Sha1 = "RSA-OAEP",
        /// JOSE's `RSA-OAEP-256`.
        Sha256 = "RSA-OAEP-256",
    }
}

closed_set! {
    /// The signature algorithm.
    pub enum SignatureScheme: "SignatureAlgorithm" {
        /// PKCS#1 v1.5 with SHA-256.
        RsaSha256 = "RSA-SHA256",
        /// PKCS#1 v1.5 with SHA-384.
        RsaSha384 = "RSA-SHA384",
        /// PKCS#1 v1.5 with SHA-512.
        RsaSha512 = "RSA-SHA512",
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
        /// ML-DSA-44 (FIPS 204) over the message itself, with an empty context.
        MlDsa44 = "ML-DSA-44",
        /// ML-DSA-65.
        MlDsa65 = "ML-DSA-65",
        /// ML-DSA-87.
        MlDsa87 = "ML-DSA-87",
        /// HMAC with SHA-256.
        HmacSha256 = "HMAC-SHA256",
    }
}

closed_set! {
    /// The wrapping mechanism: an ephemeral AES key wraps the key, and RSA-OAEP wraps the AES key.
    pub enum ImportMechanism: "ImportMechanism" {
        /// RSA-OAEP with SHA-256.
        RsaOaepSha256AesKwp = "RSA_OAEP_SHA256_AES_KWP",
        /// RSA-OAEP with SHA-1.
        RsaOaepSha1AesKwp = "RSA_OAEP_SHA1_AES_KWP",
    }
}

/// What a key may be used for. The token enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Opening envelopes: RSA keys decrypt, EC keys derive, ML-KEM keys decapsulate, and hybrid keys do the
    /// last two.
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
    /// An ML-DSA key.
    MlDsa {
        /// The parameter set.
        set: MlDsa,
        /// The encoded key of FIPS 204.
        key: Vec<u8>,
    },
    /// A key for key encapsulation.
    Kem {
        /// The key encapsulation.
        kem: Kem,
        /// The encapsulation key of FIPS 203, followed by the uncompressed point of the EC key if there is
        /// one.
        key: Vec<u8>,
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
            Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => Family::MlDsa,
            Self::MlKem768 => Family::MlKem768,
            Self::MlKem1024 => Family::MlKem1024,
            Self::P256MlKem768 => Family::P256MlKem768,
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
            | Self::MlDsa44
            | Self::MlDsa65
            | Self::MlDsa87
            | Self::MlKem768
            | Self::MlKem1024
            | Self::P256MlKem768
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
            | Self::MlDsa44
            | Self::MlDsa65
            | Self::MlDsa87
            | Self::MlKem768
            | Self::MlKem1024
            | Self::P256MlKem768
            | Self::Aes256
            | Self::Aes128
            | Self::HmacSha256 => None,
        }
    }

    /// The length in bytes of a generated secret key; none for key pairs.
    #[must_use]
    pub const fn secret_len(self) -> Option<usize> {
        match self {
            Self::Aes128 => Some(16),
            Self::Aes256 | Self::HmacSha256 => Some(32),
            Self::Rsa2048
            | Self::Rsa3072
            | Self::Rsa4096
            | Self::P256
            | Self::P384
            | Self::P521
            | Self::Ed25519
            | Self::MlDsa44
            | Self::MlDsa65
            | Self::MlDsa87
            | Self::MlKem768
            | Self::MlKem1024
            | Self::P256MlKem768 => None,
        }
    }

    /// The parameter set of ML-DSA; none for other keys.
    #[must_use]
    pub fn ml_dsa(self) -> Option<MlDsa> {
        MlDsa::ALL.into_iter().find(|set| set.algorithm() == self)
    }

    /// The class of such keys in tokens.
    #[must_use]
    pub const fn class(self) -> KeyClass {
        match self.family() {
            Family::Rsa
            | Family::Ec
            | Family::Ed25519
            | Family::MlDsa
            | Family::MlKem768
            | Family::MlKem1024 => KeyClass::Private,
            Family::P256MlKem768 => KeyClass::Hybrid(Kem::P256MlKem768),
            Family::Aes | Family::Hmac => KeyClass::Secret,
        }
    }

    /// Whether private keys can be imported. Others are generated in the token or adopted.
    #[must_use]
    pub const fn is_importable(self) -> bool {
        !matches!(
            self.family(),
            Family::MlDsa | Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768
        )
    }

    /// Whether it is one secret key rather than a pair.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self.class(), KeyClass::Secret)
    }
}

impl Curve {
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

    /// The key agreement on this curve.
    #[must_use]
    pub fn agreement(self) -> &'static agreement::Algorithm {
        match self {
            Self::P256 => &agreement::ECDH_P256,
            Self::P384 => &agreement::ECDH_P384,
            Self::P521 => &agreement::ECDH_P521,
        }
    }
}

impl MlDsa {
    /// The kind of key with these parameters.
    #[must_use]
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::MlDsa44 => Algorithm::MlDsa44,
            Self::MlDsa65 => Algorithm::MlDsa65,
            Self::MlDsa87 => Algorithm::MlDsa87,
        }
    }

    /// The length of an encoded public key in bytes.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// The length of a signature in bytes.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }

    /// The signature scheme of these parameters.
    #[must_use]
    pub const fn scheme(self) -> SignatureScheme {
        match self {
            Self::MlDsa44 => SignatureScheme::MlDsa44,
            Self::MlDsa65 => SignatureScheme::MlDsa65,
            Self::MlDsa87 => SignatureScheme::MlDsa87,
        }
    }

    /// The verification of signatures in this process.
    #[must_use]
    pub fn verification(self) -> &'static PqdsaVerificationAlgorithm {
        match self {
            Self::MlDsa44 => &ML_DSA_44,
            Self::MlDsa65 => &ML_DSA_65,
            Self::MlDsa87 => &ML_DSA_87,
        }
    }
}

impl SignatureScheme {
    /// The length of the digest that is signed, in bytes; none where the message itself is signed.
    #[must_use]
    pub const fn digest_len(self) -> Option<usize> {
        match self {
            Self::RsaSha256 | Self::RsaPssSha256 | Self::EcdsaSha256 => Some(32),
            Self::RsaSha384 | Self::RsaPssSha384 | Self::EcdsaSha384 => Some(48),
            Self::RsaSha512 | Self::RsaPssSha512 | Self::EcdsaSha512 => Some(64),
            Self::Ed25519 | Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 | Self::HmacSha256 => {
                None
            }
        }
    }

    /// The algorithms of the keys it takes.
    #[must_use]
    pub const fn keys(self) -> &'static [Algorithm] {
        match self {
            Self::RsaSha256
            | Self::RsaSha384
            | Self::RsaSha512
            | Self::RsaPssSha256
            | Self::RsaPssSha384
            | Self::RsaPssSha512 => &[Algorithm::Rsa2048, Algorithm::Rsa3072, Algorithm::Rsa4096],
            Self::EcdsaSha256 => &[Algorithm::P256],
            Self::EcdsaSha384 => &[Algorithm::P384],
            Self::EcdsaSha512 => &[Algorithm::P521],
            Self::Ed25519 => &[Algorithm::Ed25519],
            Self::MlDsa44 => &[Algorithm::MlDsa44],
            Self::MlDsa65 => &[Algorithm::MlDsa65],
            Self::MlDsa87 => &[Algorithm::MlDsa87],
            Self::HmacSha256 => &[Algorithm::HmacSha256],
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
    /// The scheme that proves possession of the private half by a signature; none for keys that do not
    /// sign.
    pub(crate) fn signature_scheme(&self) -> Option<SignatureScheme> {
        Some(match self {
            Self::Rsa { .. } => SignatureScheme::RsaSha256,
            Self::Ec { curve, .. } => match curve {
                Curve::P256 => SignatureScheme::EcdsaSha256,
                Curve::P384 => SignatureScheme::EcdsaSha384,
                Curve::P521 => SignatureScheme::EcdsaSha512,
            },
            Self::Ed25519 { .. } => SignatureScheme::Ed25519,
            Self::MlDsa { set, .. } => set.scheme(),
            Self::Kem { .. } => return None,
        })
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
            assert_eq!(curve.algorithm().name().parse(), Ok(curve));
        }
        for set in MlDsa::ALL {
            assert_eq!(set.algorithm().name(), set.name());
            assert_eq!(set.scheme().name(), set.name());
            assert_eq!(set.algorithm().ml_dsa(), Some(set));
        }
        assert!("rsa-2048".parse::<Algorithm>().is_err());
    }
}
