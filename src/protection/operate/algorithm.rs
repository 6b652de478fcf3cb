//! The algorithms that are offered, and the kinds of key each takes.

use aws_lc_rs::digest::{self, Digest};
use hsm::SignatureScheme;

use crate::closed_set;
use crate::material::Algorithm;
use crate::policy::{Permit, to};

closed_set! {
    /// The encryption algorithm.
    pub enum Cipher: "Cipher" {
        /// AES-256 in GCM.
        Aes256Gcm = "AES-256-GCM",
        /// AES-128 in GCM.
        Aes128Gcm = "AES-128-GCM",
    }
}

closed_set! {
    /// The signature algorithm.
    pub enum Scheme: "SignatureAlgorithm" {
        /// RSA PKCS#1 v1.5 with SHA-256.
        RsaSha256 = "RSA-SHA256",
        /// RSA PKCS#1 v1.5 with SHA-384.
        RsaSha384 = "RSA-SHA384",
        /// RSA PKCS#1 v1.5 with SHA-512.
        RsaSha512 = "RSA-SHA512",
        /// RSA-PSS with SHA-256.
        RsaPssSha256 = "RSA-PSS-SHA256",
        /// RSA-PSS with SHA-384.
        RsaPssSha384 = "RSA-PSS-SHA384",
        /// RSA-PSS with SHA-512.
        RsaPssSha512 = "RSA-PSS-SHA512",
        /// ECDSA on P-256 with SHA-256.
        EcdsaSha256 = "ECDSA-SHA256",
        /// ECDSA on P-384 with SHA-384.
        EcdsaSha384 = "ECDSA-SHA384",
        /// ECDSA on P-521 with SHA-512.
        EcdsaSha512 = "ECDSA-SHA512",
        /// Ed25519 (RFC 8032).
        Ed25519 = "Ed25519",
        /// HMAC with SHA-256.
        HmacSha256 = "HMAC-SHA256",
    }
}

closed_set! {
    /// The hash algorithm.
    pub enum Hash: "HashAlgorithm" {
        /// SHA-256.
        Sha256 = "SHA-256",
        /// SHA-384.
        Sha384 = "SHA-384",
        /// SHA-512.
        Sha512 = "SHA-512",
    }
}

impl Cipher {
    /// The keys it takes.
    pub(super) const fn keys(self) -> &'static [Algorithm] {
        match self {
            Self::Aes256Gcm => &[Algorithm::Aes256],
            Self::Aes128Gcm => &[Algorithm::Aes128],
        }
    }
}

impl Scheme {
    /// The scheme of the token.
    pub(super) const fn in_token(self) -> SignatureScheme {
        match self {
            Self::RsaSha256 => SignatureScheme::RsaPkcs1Sha256,
            Self::RsaSha384 => SignatureScheme::RsaPkcs1Sha384,
            Self::RsaSha512 => SignatureScheme::RsaPkcs1Sha512,
            Self::RsaPssSha256 => SignatureScheme::RsaPssSha256,
            Self::RsaPssSha384 => SignatureScheme::RsaPssSha384,
            Self::RsaPssSha512 => SignatureScheme::RsaPssSha512,
            Self::EcdsaSha256 => SignatureScheme::EcdsaSha256,
            Self::EcdsaSha384 => SignatureScheme::EcdsaSha384,
            Self::EcdsaSha512 => SignatureScheme::EcdsaSha512,
            Self::Ed25519 => SignatureScheme::Ed25519,
            Self::HmacSha256 => SignatureScheme::HmacSha256,
        }
    }

    /// The keys it takes.
    pub(super) const fn keys(self) -> &'static [Algorithm] {
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
            Self::HmacSha256 => &[Algorithm::HmacSha256],
        }
    }
}

impl Hash {
    /// The hash of `message`.
    ///
    /// ```
    /// use sealward::policy::{Permit, to};
    /// use sealward::protection::Hash;
    ///
    /// fn hash(permit: &Permit<to::Hash>) {
    ///     Hash::Sha256.of(permit, b"message");
    /// }
    /// ```
    ///
    /// Nothing is hashed without a permit:
    ///
    /// ```compile_fail,E0061
    /// use sealward::protection::Hash;
    ///
    /// fn hash() {
    ///     Hash::Sha256.of(b"message");
    /// }
    /// ```
    #[must_use]
    pub fn of(self, _permit: &Permit<to::Hash>, message: &[u8]) -> Digest {
        let algorithm = match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, message)
    }
}
