//! Why a key was not imported.

use crate::HsmError;

/// Why a key was not imported. Whatever the reason, nothing of it stays in the token.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The token cannot do it, whatever is sent.
    #[error("the token lacks {0}")]
    Unsupported(String),
    /// The order contradicts itself; the token was not asked.
    #[error("the order does not fit together: {0}")]
    Malformed(&'static str),
    /// What is wrapped is not such a key, or was wrapped for another one.
    #[error("the wrapped key cannot be unwrapped with this import key into such a key")]
    NotUnwrapped,
    /// The key was taken and failed its proof.
    #[error("the private key and its public half do not belong together")]
    Mismatch,
    /// The token kept attributes that were not asked for.
    #[error("the token would keep the key weaker than asked: {0}")]
    Weaker(String),
    /// The token did not do it.
    #[error(transparent)]
    Token(#[from] HsmError),
}

impl From<cryptoki::error::Error> for ImportError {
    fn from(error: cryptoki::error::Error) -> Self {
        Self::Token(error.into())
    }
}
