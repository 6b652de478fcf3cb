//! The hashes of a tree (RFC 9162, section 2.1.1).

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::binary::{from_base64, to_base64};

/// A SHA-256 hash of a leaf or of a subtree. Its text is standard base64 with padding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; Hash::LEN]);

/// The text is not the base64 of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the base64 of 32 bytes")]
pub struct NotAHash;

impl Hash {
    /// The number of bytes of a hash.
    pub const LEN: usize = 32;

    /// The hash with these bytes.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// The hash of a leaf.
    pub fn of_leaf(entry: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
    }

    /// The hash of two adjacent subtrees.
    pub(crate) fn of_children(left: &Self, right: &Self) -> Self {
        let hash = Sha256::new().chain_update([1]);
        Self(hash.chain_update(left.0).chain_update(right.0).finalize().into())
    }

    /// The root of the tree without leaves.
    pub fn of_empty_tree() -> Self {
        Self(Sha256::digest([]).into())
    }
}

impl TryFrom<&[u8]> for Hash {
    type Error = NotAHash;

    fn try_from(bytes: &[u8]) -> Result<Self, NotAHash> {
        bytes.try_into().map(Self).map_err(|_| NotAHash)
    }
}

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let hash = Self::try_from(&*from_base64(text).map_err(|_| NotAHash)?)?;
        // Base64url and text without padding are refused.
        if hash.to_string() == text { Ok(hash) } else { Err(NotAHash) }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_base64(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}
