//! How strong algorithms are, in bits, as NIST SP 800-57 part 1 counts them.

use super::Algorithm;
use crate::closed_set;

closed_set! {
    /// Whether a quantum computer can break a key.
    pub enum QuantumStatus: "QuantumStatus" {
        /// Shor's algorithm breaks it.
        Vulnerable = "vulnerable",
        /// No known quantum algorithm breaks it.
        Resistant = "resistant",
    }
}

/// The strength of a symmetric key with this length in bytes.
pub const fn of_secret(len: usize) -> usize {
    len * 8
}

/// The strength of a hash whose output has this length in bytes: half its bits, because of collisions.
pub(crate) const fn of_hash(len: usize) -> usize {
    len * 4
}

/// The strength of the strongest of these keys.
pub(crate) fn strongest(keys: &[Algorithm]) -> usize {
    keys.iter().map(|key| key.strength()).max().unwrap_or_default()
}

impl Algorithm {
    /// The strength of a key. A hybrid key is as strong as its stronger part.
    pub const fn strength(self) -> usize {
        match self {
            Self::Rsa2048 => 112,
            Self::Rsa3072
            | Self::Rsa4096
            | Self::P256
            | Self::Ed25519
            | Self::MlDsa44
            | Self::Aes128 => 128,
            Self::P384 | Self::MlDsa65 | Self::MlKem768 | Self::P256MlKem768 => 192,
            Self::P521 | Self::MlDsa87 | Self::MlKem1024 | Self::Aes256 | Self::HmacSha256 => 256,
        }
    }

    /// The security category of NIST against quantum computers, from 1 to 5; 0 where Shor's algorithm
    /// breaks the key. Categories 1, 3 and 5 are as hard as AES-128, AES-192 and AES-256.
    pub const fn quantum_category(self) -> u8 {
        match self {
            Self::Rsa2048
            | Self::Rsa3072
            | Self::Rsa4096
            | Self::P256
            | Self::P384
            | Self::P521
            | Self::Ed25519 => 0,
            Self::Aes128 => 1,
            Self::MlDsa44 => 2,
            Self::MlDsa65 | Self::MlKem768 | Self::P256MlKem768 => 3,
            Self::MlDsa87 | Self::MlKem1024 | Self::Aes256 | Self::HmacSha256 => 5,
        }
    }

    /// Whether a quantum computer can break a key.
    pub const fn quantum_status(self) -> QuantumStatus {
        match self.quantum_category() {
            0 => QuantumStatus::Vulnerable,
            _ => QuantumStatus::Resistant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hybrid_key_is_as_strong_as_its_stronger_part() {
        for algorithm in Algorithm::ALL {
            let parts = algorithm.parts();
            let strongest = parts.iter().map(|part| part.strength()).max();
            let category = parts.iter().map(|part| part.quantum_category()).max();
            assert_eq!(Some(algorithm.strength()), strongest, "{algorithm}");
            assert_eq!(Some(algorithm.quantum_category()), category, "{algorithm}");
        }
    }

    #[test]
    fn a_secret_key_is_as_strong_as_it_is_long() {
        for algorithm in Algorithm::ALL {
            if let Some(len) = algorithm.secret_len() {
                assert_eq!(algorithm.strength(), of_secret(len), "{algorithm}");
            }
        }
    }

    #[test]
    fn only_keys_that_shor_breaks_are_vulnerable() {
        let vulnerable: Vec<&str> = Algorithm::ALL
            .into_iter()
            .filter(|algorithm| algorithm.quantum_status() == QuantumStatus::Vulnerable)
            .map(Algorithm::name)
            .collect();
        assert_eq!(
            vulnerable,
            ["RSA-2048", "RSA-3072", "RSA-4096", "P-256", "P-384", "P-521", "Ed25519"]
        );
    }
}
