//! Private keys in plaintext.

use std::fmt;

use zeroize::Zeroizing;

use super::{Algorithm, Curve, PublicKey, PublicParts, RsaParts, ec, ed25519, rsa};
use crate::problem::{Code, Problem};

/// A validated private key with its public key. It is wiped when dropped and prints as `[redacted]`.
#[derive(Clone)]
pub struct PrivateKey {
    parts: PrivateParts,
    public: PublicKey,
}

/// The parts of a private key.
#[derive(Clone)]
pub enum PrivateParts {
    /// RSA.
    Rsa(RsaParts),
    /// A NIST curve.
    Ec {
        /// The curve.
        curve: Curve,
        /// The scalar with the length of the curve.
        scalar: Zeroizing<Vec<u8>>,
    },
    /// Ed25519.
    Ed25519 {
        /// The 32 bytes that RFC 8032 calls the private key.
        seed: Zeroizing<Vec<u8>>,
    },
}

impl PrivateKey {
    /// Checks the parts of a key and computes its public key.
    pub fn new(mut parts: PrivateParts) -> Result<Self, Problem> {
        let public = match &mut parts {
            PrivateParts::Rsa(numbers) => {
                rsa::check(numbers)?;
                PublicParts::Rsa {
                    modulus: numbers.modulus.clone(),
                    exponent: numbers.exponent.clone(),
                }
            }
            PrivateParts::Ec { curve, scalar } => {
                *scalar = ec::scalar(*curve, scalar)?;
                PublicParts::Ec { curve: *curve, point: ec::public_of(*curve, scalar)? }
            }
            PrivateParts::Ed25519 { seed } => {
                PublicParts::Ed25519 { point: ed25519::public_of(seed)?.to_vec() }
            }
        };
        let public = PublicKey::new(public)?;
        Ok(Self { parts, public })
    }

    /// The parts of the key.
    pub fn parts(&self) -> &PrivateParts {
        &self.parts
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The kind of key.
    pub fn algorithm(&self) -> Algorithm {
        self.public.algorithm()
    }

    /// Checks that a public key belongs to this key.
    pub(super) fn belongs_to(&self, given: &PublicParts) -> Result<(), Problem> {
        if self.public.parts() == given {
            Ok(())
        } else {
            Err(Problem::of_body(Code::Conflict, "must belong to the public half"))
        }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey([redacted])")
    }
}

impl fmt::Debug for PrivateParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateParts([redacted])")
    }
}
