//! What kinds of key there are.

use crate::closed_set;

closed_set! {
    /// The kinds of key that are offered.
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
    /// Kinds of key that replace each other: of one family a service has one active envelope key.
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

/// The NIST curves that are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// P-521.
    P521,
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

    /// Whether it is one secret key rather than a pair.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self.family(), Family::Aes | Family::Hmac)
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
