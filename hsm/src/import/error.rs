//! Why a key was not imported.

use crate::HsmError;

/// Why a key was not imported. In every case nothing of it stays in the token.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The token cannot import any such key.
    #[error("the token lacks {0}")]
    Unsupported(String),
    /// The request contradicts itself; the token was not called.
    #[error("the import request is inconsistent: {0}")]
    Malformed(&'static str),
    /// The wrapped key is of another kind, or was wrapped for another import key.
    #[error("the import key does not unwrap this into a key of the requested kind")]
    NotUnwrapped,
    /// The key failed its proof.
    #[error("the private key and its public half do not match")]
    Mismatch,
    /// The token did not keep the requested attributes.
    #[error("the token would keep the key weaker than requested: {0}")]
    Weaker(String),
    /// The token failed.
    #[error(transparent)]
    Token(#[from] HsmError),
}

impl ImportError {
    /// The failure of the token; none where the request or the key is at fault.
    pub(super) fn failure(&self) -> Option<&HsmError> {
        match self {
            Self::Token(error) => Some(error),
            Self::Unsupported(_)
            | Self::Malformed(_)
            | Self::NotUnwrapped
            | Self::Mismatch
            | Self::Weaker(_) => None,
        }
    }
}

impl From<cryptoki::error::Error> for ImportError {
    fn from(error: cryptoki::error::Error) -> Self {
        Self::Token(error.into())
    }
}
