//! Key encapsulations, and the keys that form a hybrid key.

use aws_lc_rs::kem;

use super::{Algorithm, Curve};
use crate::closed_set;

closed_set! {
    /// The parameter sets of ML-KEM (FIPS 203).
    pub enum MlKem: "MlKem" {
        /// ML-KEM-768.
        MlKem768 = "ML-KEM-768",
        /// ML-KEM-1024.
        MlKem1024 = "ML-KEM-1024",
    }
}

closed_set! {
    /// The key encapsulations: ML-KEM alone, or together with ECDH.
    pub enum Kem: "Kem" {
        /// ML-KEM-768.
        MlKem768 = "ML-KEM-768",
        /// ML-KEM-1024.
        MlKem1024 = "ML-KEM-1024",
        /// ML-KEM-768 and ECDH on P-256.
        P256MlKem768 = "P-256+ML-KEM-768",
    }
}

impl MlKem {
    /// The length of a shared secret in bytes.
    pub const SECRET_LEN: usize = 32;

    /// The kind of key with these parameters.
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::MlKem768 => Algorithm::MlKem768,
            Self::MlKem1024 => Algorithm::MlKem1024,
        }
    }

    /// The length of an encapsulation key in bytes.
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    /// The length of a ciphertext in bytes.
    pub const fn ciphertext_len(self) -> usize {
        match self {
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }

    /// The encapsulation in this process.
    pub fn encapsulation(self) -> &'static kem::Algorithm<kem::AlgorithmId> {
        match self {
            Self::MlKem768 => &kem::ML_KEM_768,
            Self::MlKem1024 => &kem::ML_KEM_1024,
        }
    }

    /// The encapsulation with ML-KEM alone.
    pub const fn alone(self) -> Kem {
        match self {
            Self::MlKem768 => Kem::MlKem768,
            Self::MlKem1024 => Kem::MlKem1024,
        }
    }
}

impl Kem {
    /// The kind of key for this encapsulation.
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::MlKem768 => Algorithm::MlKem768,
            Self::MlKem1024 => Algorithm::MlKem1024,
            Self::P256MlKem768 => Algorithm::P256MlKem768,
        }
    }

    /// The parameter set of the ML-KEM key.
    pub const fn ml_kem(self) -> MlKem {
        match self {
            Self::MlKem768 | Self::P256MlKem768 => MlKem::MlKem768,
            Self::MlKem1024 => MlKem::MlKem1024,
        }
    }

    /// The curve of the EC key; none for ML-KEM alone.
    pub const fn curve(self) -> Option<Curve> {
        match self {
            Self::MlKem768 | Self::MlKem1024 => None,
            Self::P256MlKem768 => Some(Curve::P256),
        }
    }

    /// The length of a public key in bytes.
    pub fn public_len(self) -> usize {
        self.ml_kem().public_len() + self.curve().map_or(0, Curve::point_len)
    }

    /// The length of a ciphertext in bytes.
    pub fn ciphertext_len(self) -> usize {
        self.ml_kem().ciphertext_len() + self.curve().map_or(0, Curve::point_len)
    }

    /// The length of the shared secrets in bytes.
    pub fn secrets_len(self) -> usize {
        MlKem::SECRET_LEN + self.curve().map_or(0, Curve::coordinate_len)
    }

    /// The encapsulation key and the point of a public key; the point is empty for ML-KEM alone. None if
    /// the length is wrong.
    pub(crate) fn split_public(self, key: &[u8]) -> Option<(&[u8], &[u8])> {
        let parts = key.split_at_checked(self.ml_kem().public_len());
        parts.filter(|_| key.len() == self.public_len())
    }

    /// The ciphertext of ML-KEM and the ephemeral point of a ciphertext; the point is empty for ML-KEM
    /// alone. None if the length is wrong.
    pub fn split_ciphertext(self, ciphertext: &[u8]) -> Option<(&[u8], &[u8])> {
        let parts = ciphertext.split_at_checked(self.ml_kem().ciphertext_len());
        parts.filter(|_| ciphertext.len() == self.ciphertext_len())
    }
}

impl Algorithm {
    /// The key encapsulation; none for other keys.
    pub fn kem(self) -> Option<Kem> {
        Kem::ALL.into_iter().find(|kem| kem.algorithm() == self)
    }

    /// The algorithms of the keys in a token that form such a key: of a hybrid key two, of others one.
    pub fn parts(self) -> Vec<Self> {
        match self.kem().and_then(|kem| Some((kem, kem.curve()?))) {
            Some((kem, curve)) => vec![kem.ml_kem().algorithm(), curve.algorithm()],
            None => vec![self],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_algorithms() {
        for set in MlKem::ALL {
            assert_eq!(set.algorithm().name(), set.name());
            assert_eq!(set.algorithm().kem(), Some(set.alone()));
        }
        for kem in Kem::ALL {
            assert_eq!(kem.algorithm().name(), kem.name());
            assert_eq!(kem.algorithm().kem(), Some(kem));
        }
    }
}
