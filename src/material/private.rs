//! Private keys in plaintext.

use std::fmt;

use zeroize::Zeroizing;

use super::{Algorithm, Curve, PublicKey, PublicParts, RsaParts, ec, ed25519, rsa};
use crate::problem::{Code, Problem};

/// A private key, checked, with its public half. Wipes itself, prints as `[redacted]`.
#[derive(Clone)]
pub struct PrivateKey {
    parts: PrivateParts,
    public: PublicKey,
}

/// What a private key consists of.
#[derive(Clone)]
pub enum PrivateParts {
    /// RSA.
    Rsa(RsaParts),
    /// A curve of NIST.
    Ec {
        /// Which one.
        curve: Curve,
        /// The scalar, of the curve's length.
        scalar: Zeroizing<Vec<u8>>,
    },
    /// Ed25519.
    Ed25519 {
        /// The 32 bytes that RFC 8032 calls the private key.
        seed: Zeroizing<Vec<u8>>,
    },
}

impl PrivateKey {
    /// Checks the parts of a key and works out its public half.
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
                PublicParts::Ec {
                    curve: *curve,
                    point: ec::public_of(*curve, scalar)?,
                }
            }
            PrivateParts::Ed25519 { seed } => PublicParts::Ed25519 {
                point: ed25519::public_of(seed)?.to_vec(),
            },
        };
        let public = PublicKey::new(public)?;
        Ok(Self { parts, public })
    }

    /// What the key consists of.
    #[must_use]
    pub fn parts(&self) -> &PrivateParts {
        &self.parts
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The kind of key.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.public.algorithm()
    }

    /// Checks that a public half that was given is this key's.
    pub(super) fn belongs_to(&self, given: &PublicParts) -> Result<(), Problem> {
        if self.public.parts() == given {
            Ok(())
        } else {
            Err(Problem::of_body(
                Code::Conflict,
                "must belong to the public half",
            ))
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
