//! The uses of keys, and their algorithms.

use hsm::Purpose;

use crate::closed_set::ClosedSet;
use formats::closed_set;
use formats::material::{Algorithm, Family};

closed_set! {
    /// The use of a key.
    pub enum Usage: "KeyUse" {
        /// Envelopes.
        Enc = "enc",
        /// Signing and verifying.
        Sig = "sig",
        /// Encrypting and decrypting data with a chosen algorithm.
        Data = "data",
    }
}

impl ClosedSet for Usage {}

impl Usage {
    /// The default use of a key with `algorithm`.
    pub(crate) const fn likely_of(algorithm: Algorithm) -> Self {
        match algorithm.family() {
            Family::Rsa
            | Family::Ec
            | Family::MlKem768
            | Family::MlKem1024
            | Family::P256MlKem768 => Self::Enc,
            Family::Aes => Self::Data,
            Family::Ed25519 | Family::MlDsa | Family::Hmac => Self::Sig,
        }
    }

    /// The default algorithm for this use.
    pub(crate) const fn likely_algorithm(self) -> Algorithm {
        match self {
            Self::Enc | Self::Sig => Algorithm::Rsa3072,
            Self::Data => Algorithm::Aes256,
        }
    }

    /// Whether a key with `algorithm` supports this use.
    pub const fn allows(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Enc => matches!(
                algorithm.family(),
                Family::Rsa
                    | Family::Ec
                    | Family::MlKem768
                    | Family::MlKem1024
                    | Family::P256MlKem768
            ),
            Self::Sig => !matches!(
                algorithm.family(),
                Family::Aes | Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768
            ),
            Self::Data => matches!(algorithm.family(), Family::Aes),
        }
    }

    /// The purpose for the token.
    pub(super) const fn purpose(self) -> Purpose {
        match self {
            Self::Enc => Purpose::Envelope,
            Self::Sig => Purpose::Sign,
            Self::Data => Purpose::Data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probable_primes_are_accepted() {
        for algorithm in Algorithm::ALL {
            assert!(Usage::likely_of(algorithm).allows(algorithm), "{algorithm}");
        }
        for usage in Usage::ALL {
            assert!(usage.allows(usage.likely_algorithm()), "{usage:?}");
        }
    }
}
