//! The cryptographic floor: the algorithms that make nothing new.
//!
//! The settings `crypto` make the floor. It stops the creation, the import and the activation of keys, and
//! their use for new data. It never stops what opens and verifies: data that exists stays readable.

mod name;

use formats::algorithms::Algorithm;
use sha2::{Digest as _, Sha256};

use self::name::Algorithms;
pub use self::name::AnyAlgorithm;

/// The floor. A check costs one comparison of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    minimum: u16,
    forbidden: Algorithms,
    approved_only: bool,
    /// What the three rules refuse together.
    refused: Algorithms,
}

/// An algorithm is below the floor. The text names the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    #[error(
        "the cryptographic floor does not allow {algorithm}: its strength is {} bits, and crypto.minimum_strength is {minimum}",
        .algorithm.strength()
    )]
    Weak { algorithm: AnyAlgorithm, minimum: u16 },
    #[error("the cryptographic floor does not allow {0}: crypto.forbidden names it")]
    Forbidden(AnyAlgorithm),
    #[error(
        "the cryptographic floor does not allow {0}: it is not FIPS-approved, and crypto.approved_only is on"
    )]
    NotApproved(AnyAlgorithm),
}

/// The values of `crypto.minimum_strength`, in bits.
pub const MINIMUM_STRENGTHS: [u16; 3] = [112, 128, 192];

impl Default for Floor {
    /// Every algorithm has this strength.
    fn default() -> Self {
        Self::new(112, [], false)
    }
}

impl Floor {
    /// The floor of these three rules.
    pub fn new(
        minimum: u16,
        forbidden: impl IntoIterator<Item = AnyAlgorithm>,
        approved_only: bool,
    ) -> Self {
        let forbidden = forbidden.into_iter().collect();
        let floor = Self { minimum, forbidden, approved_only, refused: Algorithms::default() };
        let refused = AnyAlgorithm::all().filter(|algorithm| floor.broken_by(*algorithm).is_some());
        Self { refused: refused.collect(), ..floor }
    }

    /// The same with another minimum strength.
    pub fn with_minimum(self, minimum: u16) -> Self {
        Self::new(minimum, self.forbidden.iter(), self.approved_only)
    }

    /// Checks that `algorithm` may make something new.
    pub fn check(self, algorithm: impl Into<AnyAlgorithm>) -> Result<(), Breach> {
        let algorithm = algorithm.into();
        match self.refused.contain(algorithm) {
            false => Ok(()),
            true => self.broken_by(algorithm).map_or(Ok(()), Err),
        }
    }

    /// Whether `algorithm` makes nothing new.
    pub fn refuses(self, algorithm: impl Into<AnyAlgorithm>) -> bool {
        self.refused.contain(algorithm.into())
    }

    /// Whether it refuses nothing.
    pub const fn is_open(self) -> bool {
        self.refused.are_none()
    }

    /// All algorithms that make nothing new.
    pub fn refused(self) -> impl Iterator<Item = AnyAlgorithm> {
        self.refused.iter()
    }

    /// The algorithms of keys that make nothing new.
    pub(crate) fn refused_keys(self) -> Vec<Algorithm> {
        Algorithm::ALL.into_iter().filter(|algorithm| self.refuses(*algorithm)).collect()
    }

    /// The rules in one line, as the settings name them.
    pub fn rules(self) -> String {
        let names: Vec<_> = self.forbidden.iter().map(AnyAlgorithm::name).collect();
        format!(
            "minimum_strength = {}, forbidden = {names:?}, approved_only = {}",
            self.minimum, self.approved_only
        )
    }

    /// A text that differs if the rules of two instances differ.
    pub fn fingerprint(self) -> String {
        let digest = Sha256::digest(self.rules());
        digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The first rule that `algorithm` breaks.
    fn broken_by(self, algorithm: AnyAlgorithm) -> Option<Breach> {
        if algorithm.strength() < usize::from(self.minimum) {
            Some(Breach::Weak { algorithm, minimum: self.minimum })
        } else if self.forbidden.contain(algorithm) {
            Some(Breach::Forbidden(algorithm))
        } else if self.approved_only && !algorithm.is_approved() {
            Some(Breach::NotApproved(algorithm))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of what this floor refuses, each once.
    fn refused(floor: Floor) -> Vec<&'static str> {
        let mut names: Vec<_> = floor.refused().map(AnyAlgorithm::name).collect();
        names.dedup();
        names
    }

    #[test]
    fn the_default_refuses_nothing() {
        assert!(Floor::default().is_open());
        assert_eq!(refused(Floor::default()), [""; 0]);
    }

    #[test]
    fn a_minimum_strength_refuses_what_is_weaker() {
        assert_eq!(refused(Floor::new(128, [], false)), ["RSA-2048"]);
        assert_eq!(
            refused(Floor::new(192, [], false)),
            [
                "RSA-2048",
                "RSA-3072",
                "RSA-4096",
                "P-256",
                "Ed25519",
                "ML-DSA-44",
                "AES-128",
                "RSA-OAEP-256",
                "RSA-OAEP",
                "ECDH-ES+A128KW",
                "A128GCM",
                "AES-128-GCM",
                "RSA-SHA256",
                "RSA-SHA384",
                "RSA-SHA512",
                "RSA-PSS-SHA256",
                "RSA-PSS-SHA384",
                "RSA-PSS-SHA512",
                "ECDSA-SHA256",
                "Ed25519",
                "ML-DSA-44",
                "SHA-256",
            ]
        );
    }

    #[test]
    fn a_forbidden_name_refuses_itself_alone() {
        let forbidden = ["AES-128", "SHA-256"].into_iter().flat_map(AnyAlgorithm::named);
        assert_eq!(refused(Floor::new(112, forbidden, false)), ["AES-128", "SHA-256"]);
    }

    #[test]
    fn approved_only_refuses_hpke_and_sha_1() {
        assert_eq!(
            refused(Floor::new(112, [], true)),
            ["P-256+ML-KEM-768", "RSA-OAEP", "HPKE-8-KE", "HPKE-12-KE", "HPKE-13-KE"]
        );
    }

    #[test]
    fn a_breach_names_its_rule() {
        use formats::algorithms::Hash;
        use formats::envelope::Alg;
        let floor = Floor::new(128, AnyAlgorithm::named("SHA-384"), true);
        assert_eq!(floor.check(Algorithm::Rsa3072), Ok(()));
        let text = |breach: Result<(), Breach>| breach.unwrap_err().to_string();
        assert_eq!(
            text(floor.check(Algorithm::Rsa2048)),
            "the cryptographic floor does not allow RSA-2048: its strength is 112 bits, and \
             crypto.minimum_strength is 128"
        );
        assert_eq!(
            text(floor.check(Hash::Sha384)),
            "the cryptographic floor does not allow SHA-384: crypto.forbidden names it"
        );
        assert_eq!(
            text(floor.check(Alg::RsaOaep)),
            "the cryptographic floor does not allow RSA-OAEP: it is not FIPS-approved, and \
             crypto.approved_only is on"
        );
    }

    #[test]
    fn the_order_of_forbidden_names_does_not_matter() {
        let names = |names: [&str; 2]| {
            let forbidden = names.map(|name| AnyAlgorithm::named(name).collect::<Vec<_>>());
            Floor::new(112, forbidden.concat(), false)
        };
        let floor = names(["SHA-256", "AES-128"]);
        assert_eq!(floor.fingerprint(), names(["AES-128", "SHA-256"]).fingerprint());
        assert_ne!(floor.fingerprint(), floor.with_minimum(128).fingerprint());
        assert_ne!(floor.fingerprint(), Floor::default().fingerprint());
    }
}
