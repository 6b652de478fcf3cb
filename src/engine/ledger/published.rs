//! The published checkpoints and hashes, which anyone can read. A bounded cache keeps repeated reads
//! away from Postgres.

use std::time::Duration;

use moka::future::{Cache, CacheBuilder};
use moka::policy::EvictionPolicy;

use super::{Log, read, store};
use crate::catalog::Unreadable;
use crate::db::Pool;
use formats::tlog::{Tile, TileContent};

/// The number of cached tiles, of at most 8 KiB each.
const TILES: u64 = 1_024;

/// How long a tile is served without another read. The tiles of a log change if it gets a new origin.
const TILE_FOR: Duration = Duration::from_secs(600);

/// How long a checkpoint, or its absence, is served without another read.
const CHECKPOINT_FOR: Duration = Duration::from_secs(1);

/// The published parts of the logs. Clones share the cache.
#[derive(Clone)]
pub struct PublishedLogs {
    pool: Pool,
    checkpoints: Cache<Log, Option<Published>>,
    tiles: Cache<(Log, Tile), Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Published {
    note: String,
    size: u64,
}

impl PublishedLogs {
    /// The published parts of the logs in this database.
    pub fn new(pool: Pool) -> Self {
        let latest = CacheBuilder::new(Log::ALL.len() as u64).time_to_live(CHECKPOINT_FOR);
        let tiles = CacheBuilder::new(TILES).eviction_policy(EvictionPolicy::lru());
        let tiles = tiles.time_to_live(TILE_FOR);
        Self { pool, checkpoints: latest.build(), tiles: tiles.build() }
    }

    /// The published checkpoint of a log. None if there is none. A read of the database waits for
    /// `admission`.
    pub async fn checkpoint<R>(
        &self,
        log: Log,
        admission: impl Future<Output = Result<(), R>>,
    ) -> Result<Option<String>, R>
    where
        R: From<Unreadable>,
    {
        let published = match self.checkpoints.get(&log).await {
            Some(published) => published,
            None => {
                admission.await?;
                self.read_checkpoint(log).await?
            }
        };
        Ok(published.map(|published| published.note))
    }

    /// The content of a tile of hashes that the published checkpoint covers. None for other tiles. Reads
    /// of the database wait for `admission`.
    pub async fn tile<R>(
        &self,
        log: Log,
        tile: Tile,
        admission: impl Future<Output = Result<(), R>>,
    ) -> Result<Option<Vec<u8>>, R>
    where
        R: From<Unreadable>,
    {
        let TileContent::Hashes(level) = tile.content else {
            return Ok(None);
        };
        if let Some(bytes) = self.tiles.get(&(log, tile)).await {
            return Ok(Some(bytes));
        }
        let is_in = |published: &Option<Published>| {
            let size = published.as_ref().map_or(0, |published| published.size);
            tile.is_in(size)
        };
        let known = self.checkpoints.get(&log).await;
        admission.await?;
        if !known.as_ref().is_some_and(is_in) {
            // The client may have a later checkpoint from another instance.
            self.checkpoints.invalidate(&log).await;
            if !is_in(&self.read_checkpoint(log).await?) {
                return Ok(None);
            }
        }
        let read = self.hashes(log, level, &tile).await;
        let bytes = read.map_err(Unreadable::from)?;
        if let Some(bytes) = &bytes {
            self.tiles.insert((log, tile), bytes.clone()).await;
        }
        Ok(bytes)
    }

    /// Reads a checkpoint. Concurrent reads of a log share one query.
    async fn read_checkpoint(&self, log: Log) -> Result<Option<Published>, Unreadable> {
        let read = async {
            let found = store::published(&self.pool, log).await?;
            Ok::<_, sqlx::Error>(found.map(|(note, size)| Published { note, size }))
        };
        let published = self.checkpoints.try_get_with(log, read).await;
        published.map_err(Unreadable)
    }

    async fn hashes(&self, log: Log, level: u8, tile: &Tile) -> sqlx::Result<Option<Vec<u8>>> {
        let mut connection = self.pool.acquire().await?;
        read::hashes(&mut connection, log, level, tile).await
    }
}
