//! The result of a comparison of tokens and records.

use hsm::{KeyRef, TokenObject};

use crate::ids::{ImportKeyId, KeyId};
use formats::clock::Timestamp;

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The time of the comparison; none before the first.
    pub made_at: Option<Timestamp>,
    /// Objects without a record.
    pub orphans: Vec<Orphan>,
    /// Recorded keys that are in no token.
    pub missing: Vec<KeyId>,
    /// Whether all tokens responded. Otherwise no key counts as missing.
    pub complete: bool,
}

/// An object in a token without a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The label of the token.
    pub token: String,
    /// Its name and class in the token.
    pub key: KeyRef,
    /// Its label in the token, possibly empty.
    pub label: String,
    /// Its purpose, if known.
    pub intended: Option<Intended>,
}

impl Orphan {
    pub(super) fn of(object: &TokenObject, intended: Option<Intended>) -> Self {
        Self {
            token: object.token.clone(),
            key: object.key.clone(),
            label: object.label.clone(),
            intended,
        }
    }
}

/// The purpose of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intended {
    /// It is the object of this key, whose creation did not complete.
    Key(KeyId),
    /// It is the wrapping key of an import.
    ImportKey(ImportKeyId),
    /// It was this key, which is recorded as destroyed.
    Destroyed(KeyId),
}
