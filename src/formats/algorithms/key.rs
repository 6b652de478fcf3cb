//! The kinds of keys and the mechanisms that move them.

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
    /// The hash of RSA-OAEP, for the label and for MGF1 alike.
    pub enum OaepHash: "OaepHash" {
        /// JOSE's `RSA-OAEP`.
        Sha1 = "RSA-OAEP",
        /// JOSE's `RSA-OAEP-256`.
        Sha256 = "RSA-OAEP-256",
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

impl Algorithm {
    /// The family of the algorithm.
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

    /// The length of the RSA modulus in bytes; none for other keys.
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

    /// Whether private keys can be imported. Others are generated in the token or adopted.
    pub const fn is_importable(self) -> bool {
        !matches!(
            self.family(),
            Family::MlDsa | Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768
        )
    }

    /// Whether it is one secret key rather than a pair.
    pub const fn is_secret(self) -> bool {
        matches!(self.family(), Family::Aes | Family::Hmac)
    }
}

impl ImportMechanism {
    /// The hash of its RSA-OAEP.
    pub const fn hash(self) -> OaepHash {
        match self {
            Self::RsaOaepSha1AesKwp => OaepHash::Sha1,
            Self::RsaOaepSha256AesKwp => OaepHash::Sha256,
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
        assert!("rsa-2048".parse::<Algorithm>().is_err());
    }
}
