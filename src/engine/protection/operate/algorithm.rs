//! The algorithms that are offered, and the kinds of key each takes.

use aws_lc_rs::digest::{self, Digest};

use crate::closed_set::ClosedSet;
use crate::policy::{Permit, to};
use formats::closed_set;
use formats::material::Algorithm;

closed_set! {
    /// The encryption algorithm.
    pub enum Cipher: "Cipher" {
        /// AES-256 in GCM.
        Aes256Gcm = "AES-256-GCM",
        /// AES-128 in GCM.
        Aes128Gcm = "AES-128-GCM",
    }
}

impl ClosedSet for Cipher {}

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

impl ClosedSet for Hash {}

impl Cipher {
    /// The keys it takes.
    pub(super) const fn keys(self) -> &'static [Algorithm] {
        match self {
            Self::Aes256Gcm => &[Algorithm::Aes256],
            Self::Aes128Gcm => &[Algorithm::Aes128],
        }
    }
}

impl Hash {
    /// The hash of `message`.
    ///
    /// ```
    /// use sealward_engine::policy::{Permit, to};
    /// use sealward_engine::protection::Hash;
    ///
    /// fn hash(permit: &Permit<to::Hash>) {
    ///     Hash::Sha256.of(permit, b"message");
    /// }
    /// ```
    ///
    /// Nothing is hashed without a permit:
    ///
    /// ```compile_fail,E0061
    /// use sealward_engine::protection::Hash;
    ///
    /// fn hash() {
    ///     Hash::Sha256.of(b"message");
    /// }
    /// ```
    pub fn of(self, _permit: &Permit<to::Hash>, message: &[u8]) -> Digest {
        let algorithm = match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, message)
    }
}
