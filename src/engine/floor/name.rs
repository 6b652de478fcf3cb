//! The algorithms that the floor concerns, by the set to which their names belong.

use std::fmt;

use formats::algorithms::{Algorithm, Cipher, Hash, SignatureScheme};
use formats::envelope::{Alg, Enc};

/// An algorithm of one of the closed sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyAlgorithm {
    /// Of keys, and of data keys.
    Key(Algorithm),
    /// `alg` of envelopes.
    Wrapping(Alg),
    /// `enc` of envelopes.
    Content(Enc),
    Cipher(Cipher),
    Signature(SignatureScheme),
    Hash(Hash),
}

/// A set of algorithms.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Algorithms(u64);

impl AnyAlgorithm {
    /// The number of algorithms.
    pub const COUNT: usize = Self::HASHES + Hash::ALL.len();

    const ALGS: usize = Algorithm::ALL.len();
    const ENCS: usize = Self::ALGS + Alg::ALL.len();
    const CIPHERS: usize = Self::ENCS + Enc::ALL.len();
    const SIGNATURES: usize = Self::CIPHERS + Cipher::ALL.len();
    const HASHES: usize = Self::SIGNATURES + SignatureScheme::ALL.len();

    /// All of them, ordered by their place.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = Algorithm::ALL.into_iter().map(Self::Key);
        keys.chain(Alg::ALL.into_iter().map(Self::Wrapping))
            .chain(Enc::ALL.into_iter().map(Self::Content))
            .chain(Cipher::ALL.into_iter().map(Self::Cipher))
            .chain(SignatureScheme::ALL.into_iter().map(Self::Signature))
            .chain(Hash::ALL.into_iter().map(Self::Hash))
    }

    /// Those with this name: a key and its signatures can have the same.
    pub fn named(name: &str) -> impl Iterator<Item = Self> {
        Self::all().filter(move |algorithm| algorithm.name() == name)
    }

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key(algorithm) => algorithm.name(),
            Self::Wrapping(alg) => alg.name(),
            Self::Content(enc) => enc.name(),
            Self::Cipher(cipher) => cipher.name(),
            Self::Signature(scheme) => scheme.name(),
            Self::Hash(hash) => hash.name(),
        }
    }

    /// Its strength in bits, with the strongest key that it takes.
    pub fn strength(self) -> usize {
        match self {
            Self::Key(algorithm) => algorithm.strength(),
            Self::Wrapping(alg) => alg.strength(),
            Self::Content(enc) => enc.strength(),
            Self::Cipher(cipher) => cipher.strength(),
            Self::Signature(scheme) => scheme.strength(),
            Self::Hash(hash) => hash.strength(),
        }
    }

    /// Whether standards of FIPS and the publications that they name approve it.
    pub(crate) const fn is_approved(self) -> bool {
        match self {
            // The combination of the two parts is that of HPKE.
            Self::Key(algorithm) => !matches!(algorithm, Algorithm::P256MlKem768),
            Self::Wrapping(alg) => match alg {
                Alg::RsaOaep256 | Alg::EcdhEsA256Kw | Alg::EcdhEsA128Kw => true,
                // NIST withdraws SHA-1.
                Alg::RsaOaep => false,
                // No standard of NIST has the key derivation of HPKE.
                Alg::Hpke8Ke | Alg::Hpke12Ke | Alg::Hpke13Ke => false,
            },
            // FIPS 197 and SP 800-38D, FIPS 186-5, FIPS 198-1, FIPS 204, FIPS 180-4.
            Self::Content(_) | Self::Cipher(_) | Self::Signature(_) | Self::Hash(_) => true,
        }
    }

    /// Its place among all of them.
    pub(crate) const fn place(self) -> usize {
        match self {
            Self::Key(algorithm) => algorithm as usize,
            Self::Wrapping(alg) => Self::ALGS + alg as usize,
            Self::Content(enc) => Self::ENCS + enc as usize,
            Self::Cipher(cipher) => Self::CIPHERS + cipher as usize,
            Self::Signature(scheme) => Self::SIGNATURES + scheme as usize,
            Self::Hash(hash) => Self::HASHES + hash as usize,
        }
    }
}

impl Algorithms {
    pub(super) const fn contain(self, algorithm: AnyAlgorithm) -> bool {
        self.0 & (1 << algorithm.place()) != 0
    }

    pub(super) const fn are_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = AnyAlgorithm> {
        AnyAlgorithm::all().filter(move |algorithm| self.contain(*algorithm))
    }
}

const _: () = assert!(AnyAlgorithm::COUNT <= 64, "a set has a bit for each algorithm");

impl FromIterator<AnyAlgorithm> for Algorithms {
    fn from_iter<I: IntoIterator<Item = AnyAlgorithm>>(algorithms: I) -> Self {
        Self(algorithms.into_iter().fold(0, |bits, algorithm| bits | 1 << algorithm.place()))
    }
}

impl fmt::Debug for Algorithms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(AnyAlgorithm::name)).finish()
    }
}

impl fmt::Display for AnyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! from {
    ($($set:ident => $variant:ident)*) => {$(
        impl From<$set> for AnyAlgorithm {
            fn from(algorithm: $set) -> Self {
                Self::$variant(algorithm)
            }
        }
    )*};
}

from! {
    Algorithm => Key
    Alg => Wrapping
    Enc => Content
    Cipher => Cipher
    SignatureScheme => Signature
    Hash => Hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_has_its_own_place() {
        let places: Vec<usize> = AnyAlgorithm::all().map(AnyAlgorithm::place).collect();
        assert!(places.into_iter().eq(0..AnyAlgorithm::COUNT));
    }

    #[test]
    fn a_name_selects_the_algorithms_of_all_sets() {
        let named = |name| AnyAlgorithm::named(name).collect::<Vec<_>>();
        assert_eq!(
            named("Ed25519"),
            [
                AnyAlgorithm::Key(Algorithm::Ed25519),
                AnyAlgorithm::Signature(SignatureScheme::Ed25519)
            ]
        );
        assert_eq!(named("A128GCM"), [AnyAlgorithm::Content(Enc::A128GCM)]);
        assert_eq!(named("rsa-2048"), []);
    }
}
