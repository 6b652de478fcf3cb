//! What an import is asked with and what it gives.

use std::fmt;

use zeroize::Zeroizing;

use crate::{KeyAlgorithm, KeyRef, OaepHash, PublicKey, Purpose};

/// The order to put key material from this process into the token.
#[derive(Debug, Clone)]
pub struct ImportKey {
    /// `CKA_ID`: not empty, and new in the token.
    pub id: Vec<u8>,
    /// `CKA_LABEL`, for people who look at the token with other tools.
    pub label: String,
    /// What kind of key it is.
    pub algorithm: KeyAlgorithm,
    /// What it may be used for.
    pub purpose: Purpose,
    /// The key itself.
    pub material: KeyMaterial,
}

/// The order to unwrap a key inside the token. Its plaintext is never in this process.
#[derive(Debug, Clone)]
pub struct ImportWrapped {
    /// `CKA_ID`: not empty, and new in the token.
    pub id: Vec<u8>,
    /// `CKA_LABEL`, for people who look at the token with other tools.
    pub label: String,
    /// What kind of key it is.
    pub algorithm: KeyAlgorithm,
    /// What it may be used for.
    pub purpose: Purpose,
    /// The private half of the key it was wrapped for, made with [`Purpose::Import`].
    pub import_key: KeyRef,
    /// How it was wrapped.
    pub mechanism: ImportMechanism,
    /// As [`wrap_for_import`](crate::wrap_for_import) makes it.
    pub wrapped: Vec<u8>,
    /// The public half. Required for elliptic curves, because tokens do not give it back; proven
    /// where it is given; none for secret keys.
    pub public: Option<PublicKey>,
}

/// How a key is wrapped for import: an ephemeral AES-256 key under RSA-OAEP, then the key (PKCS#8,
/// or the bare bytes of a secret key) under that one with AES-KWP, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportMechanism {
    /// RSA-OAEP with SHA-1.
    RsaOaepSha1AesKwp,
    /// RSA-OAEP with SHA-256.
    RsaOaepSha256AesKwp,
}

/// Key material outside a token. It wipes itself and prints nothing of itself.
#[derive(Clone)]
pub enum KeyMaterial {
    /// An RSA key.
    Rsa(RsaMaterial),
    /// The private scalar, big-endian, as long as the curve's order, and the public point,
    /// uncompressed.
    Ec {
        /// The private scalar.
        scalar: Zeroizing<Vec<u8>>,
        /// The public point.
        point: Vec<u8>,
    },
    /// The 32 bytes of seed and of public point of RFC 8032.
    Ed25519 {
        /// The private seed.
        seed: Zeroizing<Vec<u8>>,
        /// The public point.
        point: Vec<u8>,
    },
    /// An AES or HMAC key.
    Secret(Zeroizing<Vec<u8>>),
}

/// The numbers of an RSA private key, big-endian, without leading zeros.
#[derive(Clone)]
pub struct RsaMaterial {
    /// n.
    pub modulus: Vec<u8>,
    /// e.
    pub public_exponent: Vec<u8>,
    /// d.
    pub private_exponent: Zeroizing<Vec<u8>>,
    /// p.
    pub prime1: Zeroizing<Vec<u8>>,
    /// q.
    pub prime2: Zeroizing<Vec<u8>>,
    /// d mod (p - 1).
    pub exponent1: Zeroizing<Vec<u8>>,
    /// d mod (q - 1).
    pub exponent2: Zeroizing<Vec<u8>>,
    /// The inverse of q, mod p.
    pub coefficient: Zeroizing<Vec<u8>>,
}

/// A key the token holds now, proven.
#[derive(Debug, Clone)]
pub struct Imported {
    /// How it is named from now on.
    pub key: KeyRef,
    /// The public half; none for secret keys.
    pub public: Option<PublicKey>,
    /// The label of the token that holds it.
    pub token: String,
}

impl ImportMechanism {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::RsaOaepSha1AesKwp, Self::RsaOaepSha256AesKwp];

    /// As the API calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RsaOaepSha1AesKwp => "RSA_OAEP_SHA1_AES_KWP",
            Self::RsaOaepSha256AesKwp => "RSA_OAEP_SHA256_AES_KWP",
        }
    }

    pub(crate) fn hash(self) -> OaepHash {
        match self {
            Self::RsaOaepSha1AesKwp => OaepHash::Sha1,
            Self::RsaOaepSha256AesKwp => OaepHash::Sha256,
        }
    }
}

impl fmt::Display for ImportMechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Debug for RsaMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
