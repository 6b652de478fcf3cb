//! What an API asks for, and what it gets.

use std::fmt;

use aws_lc_rs::digest::Digest;
use formats::algorithms::Hash;
use formats::wiped::Wiped;
use hsm::GcmSealed;
use zeroize::Zeroizing;

use super::super::Refusal;
use super::super::operate::{AssociatedData, SignatureFormat};
use crate::keys::KeyVersion;

/// The maximum length of new associated data, in bytes.
pub const MOST_ASSOCIATED_DATA: usize = AssociatedData::MAX_LEN;

/// The operations of a request, with the name of their key. A hash has none.
#[derive(Debug)]
pub enum NamedRequest {
    One {
        key: Option<String>,
        item: NamedItem,
    },
    /// An item can be refused by itself.
    Several {
        key: Option<String>,
        items: Vec<Result<NamedItem, Refusal>>,
    },
}

/// One operation, and the size of its payload as it was sent.
#[derive(Debug)]
pub struct NamedItem {
    pub operation: NamedOperation,
    pub sent: usize,
}

/// An operation. Without a version, it uses the latest one.
pub enum NamedOperation {
    Encrypt {
        plaintext: Wiped<Vec<u8>>,
        aad: Vec<u8>,
        version: Option<KeyVersion>,
    },
    /// `sealed` is the IV, the ciphertext and the tag.
    Decrypt {
        version: KeyVersion,
        sealed: Vec<u8>,
        aad: Vec<u8>,
    },
    Rewrap {
        from: KeyVersion,
        sealed: Vec<u8>,
        aad: Vec<u8>,
        to: Option<KeyVersion>,
    },
    /// Makes a random key with this number of bytes, and encrypts it.
    MakeDataKey {
        length: usize,
        aad: Vec<u8>,
        version: Option<KeyVersion>,
    },
    Sign {
        input: SignedInput,
        wish: SigningWish,
        version: Option<KeyVersion>,
    },
    Verify {
        input: SignedInput,
        wish: SigningWish,
        version: KeyVersion,
        signature: Vec<u8>,
    },
    Hash {
        algorithm: Hash,
        input: Wiped<Vec<u8>>,
    },
}

/// What is signed: a message, or its digest.
pub struct SignedInput {
    pub bytes: Wiped<Vec<u8>>,
    pub is_digest: bool,
}

/// How something is signed. The algorithm of the key decides the rest.
#[derive(Clone, Copy, Debug)]
pub struct SigningWish {
    /// Whether the key is one of HMAC.
    pub is_mac: bool,
    pub hash: Hash,
    /// The padding of RSA; none if a signature of either verifies.
    pub padding: Option<RsaPadding>,
    /// The format of ECDSA signatures.
    pub format: SignatureFormat,
}

/// A padding of RSA signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RsaPadding {
    /// PSS with a salt of this length; none: of the length of the hash if it is made here, and of any length if
    /// it is verified.
    Pss {
        salt: Option<usize>,
    },
    Pkcs1v15,
}

/// The result of an operation.
pub enum NamedResult {
    Sealed(VersionedSealed),
    Opened(Zeroizing<Vec<u8>>),
    DataKey { key: Zeroizing<Vec<u8>>, sealed: VersionedSealed },
    Signed { version: KeyVersion, is_mac: bool, signature: Vec<u8> },
    Verified(bool),
    Hashed(Digest),
}

/// A ciphertext, and the version of its key.
pub struct VersionedSealed {
    pub version: KeyVersion,
    pub sealed: GcmSealed,
}

impl NamedItem {
    /// About the number of bytes that it has in memory.
    pub(super) fn size(&self) -> usize {
        match &self.operation {
            NamedOperation::Encrypt { plaintext, aad, .. } => plaintext.len() + aad.len(),
            NamedOperation::Decrypt { sealed, aad, .. }
            | NamedOperation::Rewrap { sealed, aad, .. } => sealed.len() + aad.len(),
            NamedOperation::MakeDataKey { aad, .. } => aad.len(),
            NamedOperation::Sign { input, .. } | NamedOperation::Verify { input, .. } => {
                input.bytes.len()
            }
            NamedOperation::Hash { input, .. } => input.len(),
        }
    }
}

impl NamedResult {
    /// The number of bytes to write.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Sealed(sealed) => sealed.sealed.ciphertext.len(),
            Self::Opened(plaintext) => plaintext.len(),
            Self::DataKey { .. } | Self::Verified(_) | Self::Hashed(_) => 0,
            Self::Signed { signature, .. } => signature.len(),
        }
    }
}

impl fmt::Debug for NamedOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedOperation([redacted])")
    }
}

impl fmt::Debug for NamedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedResult([redacted])")
    }
}
