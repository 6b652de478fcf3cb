//! What a caller may ask of the runtime, and sets of it, as API keys and policies grant them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One thing the runtime does for a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Make an envelope under a policy.
    Protect,
    /// Open an envelope under a policy.
    Unprotect,
    /// Encrypt with a chosen algorithm.
    Encrypt,
    /// Decrypt what [`Operation::Encrypt`] made.
    Decrypt,
    /// Sign.
    Sign,
    /// Check a signature.
    Verify,
    /// Hash.
    Hash,
}

impl Operation {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Protect,
        Self::Unprotect,
        Self::Encrypt,
        Self::Decrypt,
        Self::Sign,
        Self::Verify,
        Self::Hash,
    ];

    /// Its name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Protect => "protect",
            Self::Unprotect => "unprotect",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Hash => "hash",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Protect => 1,
            Self::Unprotect => 1 << 1,
            Self::Encrypt => 1 << 2,
            Self::Decrypt => 1 << 3,
            Self::Sign => 1 << 4,
            Self::Verify => 1 << 5,
            Self::Hash => 1 << 6,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an operation")]
pub struct UnknownOperation;

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.name() == name)
            .ok_or(UnknownOperation)
    }
}

/// A set of operations.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<Operation>", from = "Vec<Operation>")]
pub struct Operations(u8);

impl Operations {
    /// Every operation there is.
    #[must_use]
    pub fn all() -> Self {
        Operation::ALL.into_iter().collect()
    }

    /// Whether `operation` is among them.
    #[must_use]
    pub const fn contain(self, operation: Operation) -> bool {
        self.0 & operation.bit() != 0
    }

    /// Those of these names, as the database keeps them.
    ///
    /// # Errors
    /// When one of them names no operation.
    pub fn of_names(names: &[String]) -> Result<Self, UnknownOperation> {
        names.iter().map(|name| name.parse::<Operation>()).collect()
    }

    /// Their names, in the order in which they are shown.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Operation::name).collect()
    }

    /// Its operations in the order in which they are shown.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::ALL
            .into_iter()
            .filter(move |operation| self.contain(*operation))
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<Operation> for Operations {
    fn from_iter<I: IntoIterator<Item = Operation>>(operations: I) -> Self {
        Self(
            operations
                .into_iter()
                .fold(0, |bits, operation| bits | operation.bit()),
        )
    }
}

impl From<Vec<Operation>> for Operations {
    fn from(operations: Vec<Operation>) -> Self {
        operations.into_iter().collect()
    }
}

impl From<Operations> for Vec<Operation> {
    fn from(operations: Operations) -> Self {
        operations.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let set: Operations = [Operation::Hash, Operation::Protect].into_iter().collect();
        for operation in Operation::ALL {
            let put_in = matches!(operation, Operation::Hash | Operation::Protect);
            assert_eq!(set.contain(operation), put_in, "{operation}");
        }
        assert_eq!(
            serde_json::to_string(&set).unwrap(),
            r#"["protect","hash"]"#
        );
        assert_eq!(Operations::all().iter().count(), Operation::ALL.len());
    }

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for operation in Operation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
        }
        assert_eq!("Hash".parse::<Operation>(), Err(UnknownOperation));
    }
}
