//! The identifiers of callers.

use std::fmt;

use uuid::Uuid;

use crate::ids::{CredentialId, PersonId};

/// The identifier of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerId {
    /// Of an API key or of a workload identity.
    Credential(CredentialId),
    /// Of a person who signed in.
    Person(PersonId),
}

impl CallerId {
    pub fn uuid(self) -> Uuid {
        match self {
            Self::Credential(id) => id.uuid(),
            Self::Person(id) => id.uuid(),
        }
    }
}

impl fmt::Display for CallerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credential(id) => id.fmt(f),
            Self::Person(id) => id.fmt(f),
        }
    }
}
