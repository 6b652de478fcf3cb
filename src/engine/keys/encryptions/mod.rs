//! The number of AES-GCM encryptions of each key with random IVs. After 2^32 encryptions a repeated IV
//! is too likely (NIST SP 800-38D, section 8.3), so Sealward then refuses to encrypt with the key.
//!
//! Instances reserve blocks of encryptions in the database before they encrypt. The count is therefore
//! never too low, even after a crash, and each block needs one query.

mod store;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as Turn;
use tokio::time::timeout;

use crate::catalog::Unreadable;
use crate::db::Pool;
use crate::ids::KeyId;

/// The size of a block.
const BLOCK: i64 = 4096;

/// The limit. One more encryption is the [canary](crate::keys::Canary) of the key.
const MOST: i64 = (1 << 32) - 1;

/// Counts the encryptions of one instance.
#[derive(Debug)]
pub struct Encryptions {
    pool: Pool,
    /// Reserved encryptions that are not used yet, per key.
    left: Mutex<HashMap<KeyId, Arc<Turn<i64>>>>,
}

/// The encryption is not allowed.
#[derive(Debug, thiserror::Error)]
pub enum NotCounted {
    /// The key has reached its limit.
    #[error("the key has encrypted 2^32 times and cannot encrypt again")]
    Exhausted,
    /// The count is not available.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Encryptions {
    /// Counts in the database behind `pool`.
    pub fn new(pool: Pool) -> Self {
        Self { pool, left: Mutex::new(HashMap::new()) }
    }

    /// Counts one encryption with `key`. Call it before the encryption.
    pub async fn count(&self, key: KeyId) -> Result<(), NotCounted> {
        // One timeout covers the wait for other callers and for the database.
        let patience = self.pool.current().options().get_acquire_timeout();
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

    /// The keys with 2^31 encryptions or more, and the highest count.
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
    async fn one_timeout_covers_the_queue_and_the_database() {
        // Connections succeed, but the server never responds.
        let silence = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://u@{}/d", silence.local_addr().unwrap());
        let patience = Duration::from_millis(400);
        let pool = PgPoolOptions::new().acquire_timeout(patience);
        let encryptions = Encryptions::new(pool.connect_lazy(&url).unwrap().into());
        let key = KeyId::from_uuid(Uuid::from_u128(1));
        let began = Instant::now();
        let counted = join_all((0..20).map(|_| encryptions.count(key))).await;
        let refused = |counted: &_| matches!(counted, Err(NotCounted::Unreadable(_)));
        assert!(counted.iter().all(refused), "{counted:?}");
        assert!(began.elapsed() < patience * 5, "{:?}", began.elapsed());
    }
}
