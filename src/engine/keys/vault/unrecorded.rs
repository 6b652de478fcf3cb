//! The results of creating a key.

use hsm::{HsmError, KeyClass, KeyName, KeyRef};

use crate::ids::KeyId;
use formats::material::{Algorithm, PublicKey};
use formats::problem::Problem;

/// A new object in the token without a record.
#[derive(Debug)]
#[must_use = "it is in the token: record it, or have the vault discard it"]
pub struct UnrecordedKey {
    /// The identifier of the key.
    pub id: KeyId,
    pub algorithm: Algorithm,
    /// Its name in the tokens.
    pub name: KeyName,
    /// Whether it can leave the token.
    pub extractable: bool,
    /// Its public key; none for secret keys.
    pub public: Option<PublicKey>,
}

impl UnrecordedKey {
    /// Its name in the tokens, and whether it can leave them.
    pub fn private_half(&self) -> (KeyName, bool) {
        (self.name.clone(), self.extractable)
    }
}

/// Why no key was created.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The given material is invalid for the key.
    #[error("{}", .0.message)]
    Problem(Problem),
    /// The key can leave the token, which the settings do not allow.
    #[error("the key in the token is extractable")]
    Extractable,
    /// The token failed.
    #[error(transparent)]
    Token(#[from] HsmError),
    /// The database refused the intent.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl UnrecordedKey {
    /// Whether it existed before under a name of its own.
    pub(super) fn is_adopted(&self) -> bool {
        self.name != KeyName::Id(self.id.uuid().as_bytes().to_vec())
    }

    pub(crate) fn token_key(&self) -> KeyRef {
        KeyRef { name: self.name.clone(), class: KeyClass::of(self.algorithm) }
    }
}
