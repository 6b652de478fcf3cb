//! The result of a comparison of tokens and records.

use hsm::KeyName;

use crate::clock::Timestamp;
use crate::ids::{ImportKeyId, KeyId};

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// When it was made; none before the first.
    pub made_at: Option<Timestamp>,
    /// Objects without a record.
    pub orphans: Vec<Orphan>,
    /// Keys that are recorded and in no token.
    pub missing: Vec<KeyId>,
    /// Whether every token could be asked. Where not, nothing is called missing.
    pub complete: bool,
}

/// An object in a token that no record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The label of the token.
    pub token: String,
    /// How it is named there.
    pub name: KeyName,
    /// Its label there, possibly empty.
    pub label: String,
    /// What it was made for, where that is known.
    pub intended: Option<Intended>,
}

/// What an object was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intended {
    /// To be this key; making it did not come to an end.
    Key(KeyId),
    /// To be the wrapping key of an import.
    ImportKey(ImportKeyId),
    /// It was this key, which is recorded as destroyed.
    Destroyed(KeyId),
}
