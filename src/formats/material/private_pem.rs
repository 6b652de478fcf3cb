//! Private keys in PEM.

use super::pkcs8::EncryptedKey;
use super::{PrivateKey, pem};
use crate::problem::{Code, Problem};

/// A PEM block with a private key, encrypted or not.
#[derive(Debug)]
pub enum PrivatePem {
    /// It is not encrypted.
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
            _ => Err(unsupported("must be a PRIVATE KEY or an ENCRYPTED PRIVATE KEY (PKCS#8)")),
        }
    }
}

fn unsupported(message: &'static str) -> Problem {
    Problem::of_body(Code::Unsupported, message)
}
