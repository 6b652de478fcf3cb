//! Import requests and their result.

use std::fmt;

use zeroize::Zeroizing;

use crate::{KeyRef, NewKey};
use formats::algorithms::{ImportMechanism, PublicParts, RsaParts};

/// Puts key material from this process into the token.
#[derive(Debug, Clone)]
pub struct ImportKey {
    /// The key to be made.
    pub key: NewKey,
    /// The value of the key.
    pub material: KeyMaterial,
}

/// Unwraps a key inside the token. Its plaintext is never in this process.
#[derive(Debug, Clone)]
pub struct ImportWrapped {
    /// The key to be made.
    pub key: NewKey,
    /// The private key to unwrap with, made with [`Purpose::Import`](crate::Purpose::Import).
    pub import_key: KeyRef,
    /// How the key was wrapped.
    pub mechanism: ImportMechanism,
    /// The result of [`wrap_for_import`](crate::wrap_for_import).
    pub wrapped: Vec<u8>,
    /// The public key. Required for elliptic curves, because tokens do not return it; optional
    /// for RSA; none for secret keys.
    pub public: Option<PublicParts>,
}

/// Key material outside a token. It wipes itself and prints nothing.
#[derive(Clone)]
pub enum KeyMaterial {
    /// An RSA key.
    Rsa(RsaParts),
    /// A key on a NIST curve.
    Ec {
        /// The private scalar, big-endian, as long as the curve's order.
        scalar: Zeroizing<Vec<u8>>,
        /// The public point, uncompressed.
        point: Vec<u8>,
    },
    /// The 32 bytes each of seed and public point of RFC 8032.
    Ed25519 {
        /// The private seed.
        seed: Zeroizing<Vec<u8>>,
        /// The public point.
        point: Vec<u8>,
    },
    /// An AES or HMAC key.
    Secret(Zeroizing<Vec<u8>>),
}

/// A key that the token now holds, proven.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The name of the key.
    pub key: KeyRef,
    /// The public half; none for secret keys.
    pub public: Option<PublicParts>,
    /// The label of the token that holds it.
    pub token: String,
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
