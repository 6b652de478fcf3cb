//! The signature algorithms.

use super::Algorithm;
use super::strength::{of_hash, strongest};
use crate::closed_set;

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

impl SignatureScheme {
    /// The length of the digest that is signed, in bytes; none where the message itself is signed.
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

    /// The strength of its hash in bits; none where the message itself is signed. A signature is as strong as the
    /// weaker of key and hash.
    pub(crate) const fn hash_strength(self) -> Option<usize> {
        match self.digest_len() {
            Some(len) => Some(of_hash(len)),
            None => None,
        }
    }

    /// The strength in bits with the strongest key: that of the weaker of key and hash.
    pub fn strength(self) -> usize {
        let key = strongest(self.keys());
        self.hash_strength().map_or(key, |hash| hash.min(key))
    }

    /// The algorithms of the keys it takes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_signature_is_half_as_strong_as_its_output_is_long() {
        assert_eq!(SignatureScheme::RsaSha256.hash_strength(), Some(128));
        assert_eq!(SignatureScheme::EcdsaSha384.hash_strength(), Some(192));
        assert_eq!(SignatureScheme::RsaPssSha512.hash_strength(), Some(256));
        assert_eq!(SignatureScheme::Ed25519.hash_strength(), None);
    }
}
