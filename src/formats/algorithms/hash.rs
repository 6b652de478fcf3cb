//! The hash algorithms.

use aws_lc_rs::digest;

use super::strength::of_hash;
use crate::closed_set;

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

impl Hash {
    /// The implementation.
    pub const fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        }
    }

    /// The strength in bits.
    pub const fn strength(self) -> usize {
        of_hash(self.digest_len())
    }

    /// The length of its digests, in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_the_length_of_the_implementation() {
        for hash in Hash::ALL {
            assert_eq!(hash.digest_len(), hash.algorithm().output_len());
        }
    }
}
