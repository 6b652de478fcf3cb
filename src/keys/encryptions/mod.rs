//! How often each key has encrypted with AES-GCM under random IVs. After 2^32 times a repeated IV
//! is no longer unlikely enough (NIST SP 800-38D, section 8.3), so a key stops there.
//!
//! Instances reserve encryptions in blocks, in the database, before they make any: what is counted
//! is never fewer than were made, whatever crashes, and the database is asked once a block.

mod store;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::PgPool;
use tokio::sync::Mutex as Turn;
use tokio::time::timeout;

use crate::catalog::Unreadable;
use crate::ids::KeyId;

/// Encryptions reserved at once. It divides the bound.
const BLOCK: i64 = 4096;

/// The bound.
const MOST: i64 = 1 << 32;

/// Counts the encryptions of one instance.
#[derive(Debug)]
pub struct Encryptions {
    pool: PgPool,
    /// Encryptions reserved and not yet made, a turnstile a key.
    left: Mutex<HashMap<KeyId, Arc<Turn<i64>>>>,
}

/// The encryption may not be made.
#[derive(Debug, thiserror::Error)]
pub enum NotCounted {
    /// The key has encrypted as often as it may.
    #[error("the key has encrypted 2^32 times and may not encrypt again")]
    Exhausted,
    /// The count is not to be had now.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Encryptions {
    /// Counts in the database behind `pool`.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        Self {
            pool,
            left: Mutex::new(HashMap::new()),
        }
    }

    /// Counts one encryption with `key`, which is made after this.
    ///
    /// # Errors
    /// When it would be one too many, or the database does not answer.
    pub async fn count(&self, key: KeyId) -> Result<(), NotCounted> {
        // Whoever waits behind others waits no longer for all of them than for the database alone.
        let patience = self.pool.options().get_acquire_timeout();
        let counted = timeout(patience, self.count_in_turn(key)).await;
        counted.unwrap_or_else(|_| Err(Unreadable::from(sqlx::Error::PoolTimedOut).into()))
    }

    async fn count_in_turn(&self, key: KeyId) -> Result<(), NotCounted> {
        let turn = self.turnstile(key);
        let mut left = turn.lock().await;
        if *left == 0 {
            store::reserve_encryptions(&self.pool, key, BLOCK, MOST)
                .await
                .map_err(Unreadable::from)?
                .ok_or(NotCounted::Exhausted)?;
            *left = BLOCK;
        }
        *left -= 1;
        Ok(())
    }

    /// Keys that have encrypted 2^31 times or more, and how often at most.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn worn(&self) -> Result<Vec<(KeyId, i64)>, Unreadable> {
        Ok(store::worn(&self.pool).await?)
    }

    fn turnstile(&self, key: KeyId) -> Arc<Turn<i64>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.entry(key).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use futures_util::future::join_all;
    use sqlx::postgres::PgPoolOptions;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn nobody_waits_for_those_before_and_the_database_one_after_the_other() {
        // Connections come about, and nobody ever says anything on them.
        let silence = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://u@{}/d", silence.local_addr().unwrap());
        let patience = Duration::from_millis(400);
        let pool = PgPoolOptions::new().acquire_timeout(patience);
        let encryptions = Encryptions::new(pool.connect_lazy(&url).unwrap());
        let key = KeyId::from_uuid(Uuid::from_u128(1));
        let began = Instant::now();
        let counted = join_all((0..20).map(|_| encryptions.count(key))).await;
        let refused = |counted: &_| matches!(counted, Err(NotCounted::Unreadable(_)));
        assert!(counted.iter().all(refused), "{counted:?}");
        assert!(began.elapsed() < patience * 5, "{:?}", began.elapsed());
    }
}
