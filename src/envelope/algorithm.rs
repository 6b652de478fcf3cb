//! The algorithms an envelope may name.

use aws_lc_rs::agreement;
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm};

use crate::closed_set;

closed_set! {
    /// How the content key is wrapped: the header's `alg` (RFC 7518, section 4).
    #[derive(Default)]
    pub enum Alg: "Alg" {
        /// RSA-OAEP with SHA-256.
        #[default]
        RsaOaep256 = "RSA-OAEP-256",
        /// RSA-OAEP with SHA-1.
        RsaOaep = "RSA-OAEP",
        /// ECDH-ES, then AES-256 key wrap.
        EcdhEsA256Kw = "ECDH-ES+A256KW",
        /// ECDH-ES, then AES-128 key wrap.
        EcdhEsA128Kw = "ECDH-ES+A128KW",
    }
}

closed_set! {
    /// How the content is encrypted: the header's `enc` (RFC 7518, section 5).
    #[derive(Default)]
    pub enum Enc: "Enc" {
        /// AES-256 in GCM.
        #[default]
        A256GCM = "A256GCM",
        /// AES-128 in GCM.
        A128GCM = "A128GCM",
    }
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

closed_set! {
    /// The curves of ECDH-ES.
    pub enum Curve: "Curve" {
        /// NIST P-256.
        P256 = "P-256",
        /// NIST P-384.
        P384 = "P-384",
        /// NIST P-521.
        P521 = "P-521",
    }
}

impl Alg {
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
