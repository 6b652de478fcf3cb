//! The key algorithms, their families and curves: one definition for all modules.

use aws_lc_rs::agreement;

use crate::closed_set;

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

/// The hash of RSA-OAEP, for the label and for MGF1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OaepHash {
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
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

    /// Whether it is a secret key and not a key pair.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self.family(), Family::Aes | Family::Hmac)
    }
}

impl Curve {
    /// The length of a coordinate and of a shared secret, in bytes.
    #[must_use]
    pub const fn coordinate_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// The algorithm of keys on this curve.
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
