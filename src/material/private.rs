//! Private keys in plaintext.

use std::fmt;

use zeroize::Zeroizing;

use super::pkcs8::EncryptedKey;
use super::public::PublicParts;
use super::{Algorithm, Curve, PublicKey, RsaParts, ec, ed25519, jwk, pem, pkcs8};
use crate::json::Text;
use crate::problem::{Code, Problem, Problems};

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

/// A PEM block with a private key, which may want a passphrase.
#[derive(Debug)]
pub enum PrivatePem {
    /// It lay open.
    Open(Box<PrivateKey>),
    /// It is encrypted.
    Locked(EncryptedKey),
}

impl PrivatePem {
    /// Reads a PEM block: a `PRIVATE KEY` or an `ENCRYPTED PRIVATE KEY`, both PKCS#8.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let block = pem::read_one(text)?;
        match block.label.as_str() {
            "PRIVATE KEY" => {
                PrivateKey::from_pkcs8(&block.bytes).map(|key| Self::Open(Box::new(key)))
            }
            "ENCRYPTED PRIVATE KEY" => EncryptedKey::read(block.bytes).map(Self::Locked),
            "RSA PRIVATE KEY" | "EC PRIVATE KEY" => Err(unsupported(
                "must be PKCS#8; convert it: openssl pkcs8 -topk8 -nocrypt -in FILE",
            )),
            _ => Err(unsupported(
                "must be a PRIVATE KEY or an ENCRYPTED PRIVATE KEY (PKCS#8)",
            )),
        }
    }
}

impl PrivateKey {
    /// Checks the parts of a key and works out its public half.
    pub fn new(mut parts: PrivateParts) -> Result<Self, Problem> {
        let public = match &mut parts {
            PrivateParts::Rsa(numbers) => {
                numbers.check()?;
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

    /// Reads a JWK.
    pub fn from_jwk(text: Text<'_>) -> Result<Self, Problems> {
        jwk::read_private(text)
    }

    /// Reads a PrivateKeyInfo of PKCS#8 in DER.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, Problem> {
        pkcs8::decode(der)
    }

    /// The PrivateKeyInfo of PKCS#8 in DER.
    #[must_use]
    pub fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        pkcs8::encode(self)
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

fn unsupported(told: &'static str) -> Problem {
    Problem::of_body(Code::Unsupported, told)
}
