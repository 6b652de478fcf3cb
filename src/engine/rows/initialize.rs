//! The row key, made once.

use hsm::Token;

use super::store;
use crate::db::Pool;
use crate::seals::{self, NotDerived};

/// Why the row key was not made.
#[derive(Debug, thiserror::Error)]
pub enum NotInitialized {
    /// The token failed.
    #[error(transparent)]
    Token(#[from] NotDerived),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Makes the row key in the token, unless it has one. Returns whether it was made.
pub async fn initialize(pool: &Pool, token: &Token) -> Result<bool, NotInitialized> {
    let mut transaction = pool.begin().await?;
    store::lock_internal_keys(&mut transaction).await?;
    let made = seals::initialize(token, pool.seals()).await?;
    transaction.commit().await?;
    Ok(made)
}
