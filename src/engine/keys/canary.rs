//! The canary of a key: what only its private or secret half opens or makes again.
//!
//! It is made once, with the record of the key. After a restore it shows that the key in the token is the one that
//! has protected data before the backup, which an operation with new data cannot show of a secret key.

use hsm::HsmError;

/// The canary of a key: the envelope of an `enc` key, the ciphertext of a `data` key, or a MAC. It protects
/// the identifier of the key, so that it is no secret.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Canary(pub(super) Vec<u8>);

/// Why a key is not proven.
#[derive(Debug, thiserror::Error)]
pub enum NotProven {
    /// It has no canary.
    #[error("the record of the key has no canary")]
    NoCanary,
    /// The key of this name in the token is another one.
    #[error("the key in the token is not the one of the record")]
    OtherKey,
    /// The token failed, or does not have the key.
    #[error("{}", .0.report())]
    Token(#[from] HsmError),
}
