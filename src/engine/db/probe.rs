//! Checks of the database on a connection of their own, so that other work does not delay them.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio::time::timeout;

use super::{Pool, takes_writes};

/// Checks that the primary responds.
#[derive(Debug)]
pub struct Probe {
    pool: Pool,
    connection: Option<(Arc<PgConnectOptions>, PgConnection)>,
}

impl Probe {
    /// Checks of the primary of `pool`.
    pub fn new(pool: Pool) -> Self {
        Self { pool, connection: None }
    }

    /// Whether the primary responds within `patience`.
    pub async fn answers(&mut self, patience: Duration) -> bool {
        // A connection that does not respond is not used again.
        let connection = self.connection.take();
        match timeout(patience, ask(&self.pool, connection)).await {
            Ok(Ok(answered)) => {
                self.connection = Some(answered);
                true
            }
            Ok(Err(_)) | Err(_) => false,
        }
    }
}

async fn ask(
    pool: &Pool,
    connection: Option<(Arc<PgConnectOptions>, PgConnection)>,
) -> sqlx::Result<(Arc<PgConnectOptions>, PgConnection)> {
    let current = pool.connect_options();
    let known = connection.filter(|(options, _)| Arc::ptr_eq(options, &current));
    let mut connection = match known {
        Some((_, connection)) => connection,
        None => current.connect().await?,
    };
    if takes_writes(&mut connection).await? {
        Ok((current, connection))
    } else {
        Err(sqlx::Error::PoolClosed)
    }
}
