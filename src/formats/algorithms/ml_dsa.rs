//! The parameter sets of ML-DSA.

use aws_lc_rs::signature::{ML_DSA_44, ML_DSA_65, ML_DSA_87, PqdsaVerificationAlgorithm};

use super::{Algorithm, SignatureScheme};
use crate::closed_set;

closed_set! {
    /// The parameter sets of ML-DSA (FIPS 204).
    pub enum MlDsa: "MlDsa" {
        /// ML-DSA-44.
        MlDsa44 = "ML-DSA-44",
        /// ML-DSA-65.
        MlDsa65 = "ML-DSA-65",
        /// ML-DSA-87.
        MlDsa87 = "ML-DSA-87",
    }
}

impl MlDsa {
    /// The kind of key with these parameters.
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::MlDsa44 => Algorithm::MlDsa44,
            Self::MlDsa65 => Algorithm::MlDsa65,
            Self::MlDsa87 => Algorithm::MlDsa87,
        }
    }

    /// The length of an encoded public key in bytes.
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// The length of a signature in bytes.
    pub const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }

    /// The signature scheme of these parameters.
    pub const fn scheme(self) -> SignatureScheme {
        match self {
            Self::MlDsa44 => SignatureScheme::MlDsa44,
            Self::MlDsa65 => SignatureScheme::MlDsa65,
            Self::MlDsa87 => SignatureScheme::MlDsa87,
        }
    }

    /// The verification of signatures in this process.
    pub fn verification(self) -> &'static PqdsaVerificationAlgorithm {
        match self {
            Self::MlDsa44 => &ML_DSA_44,
            Self::MlDsa65 => &ML_DSA_65,
            Self::MlDsa87 => &ML_DSA_87,
        }
    }
}

impl Algorithm {
    /// The parameter set of ML-DSA; none for other keys.
    pub fn ml_dsa(self) -> Option<MlDsa> {
        MlDsa::ALL.into_iter().find(|set| set.algorithm() == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_algorithms() {
        for set in MlDsa::ALL {
            assert_eq!(set.algorithm().name(), set.name());
            assert_eq!(set.scheme().name(), set.name());
            assert_eq!(set.algorithm().ml_dsa(), Some(set));
        }
    }
}
