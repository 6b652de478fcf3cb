//! What came of making a key.

use hsm::{HsmError, KeyClass, KeyName, KeyRef};

use crate::ids::KeyId;
use crate::material::{Algorithm, PublicKey};
use crate::problem::Problem;

/// The secret half of a key, in the token and not yet recorded.
#[derive(Debug)]
#[must_use = "it is in the token: record it, or have the vault discard it"]
pub struct Made {
    /// The identifier the key will have.
    pub id: KeyId,
    /// What kind of key it is.
    pub algorithm: Algorithm,
    /// How the tokens name it.
    pub name: KeyName,
    /// Its public half; none for secret keys.
    pub public: Option<PublicKey>,
}

/// Why nothing was made.
#[derive(Debug, thiserror::Error)]
pub enum NotMade {
    /// What was handed in cannot become such a key.
    #[error("{}", .0.message)]
    Problem(Problem),
    /// The token did not do it.
    #[error(transparent)]
    Token(#[from] HsmError),
    /// The database did not take the intent.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Made {
    /// The key in the token.
    #[must_use]
    pub fn token_key(&self) -> KeyRef {
        let class = if self.algorithm.is_secret() {
            KeyClass::Secret
        } else {
            KeyClass::Private
        };
        KeyRef {
            name: self.name.clone(),
            class,
        }
    }
}
