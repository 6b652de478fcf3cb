//! What the logs serve: checkpoints, tiles, entries and keys.

use std::ops::Range;

use sqlx::PgConnection;

use super::foreign::latest_checkpoint;
use super::store::{self, Sealed};
use super::{Log, records};
use crate::db::Pool;
use crate::resource::Rows;
use crate::segments::leaf;
use formats::tlog::{Checkpoint, Tile, TileContent, VerifierKey, append_entry};

/// The latest checkpoint of a log. None before the first one.
pub async fn checkpoint(pool: &Pool, log: Log) -> sqlx::Result<Option<String>> {
    let head = store::head(pool, log).await?;
    let (now, keys) = (store::now(pool).await?, store::keys(pool.rows()).await?);
    let served = head.and_then(|head| head.served(now, &keys));
    Ok(served.map(|signed| signed.note))
}

/// The public keys of a log: first the one that signs, last those of cosignatures. None before
/// `sealward audit init`.
pub async fn keys(pool: &Pool, log: Log) -> sqlx::Result<Option<Vec<VerifierKey>>> {
    let Some(head) = store::head(pool, log).await? else {
        return Ok(None);
    };
    let mut keys = store::keys(pool.rows()).await?;
    keys.extend(store::cosigners(pool.rows()).await?);
    let keys = keys.iter().filter_map(|key| key.verifier(&head.origin).ok());
    Ok(Some(keys.collect()))
}

/// Whether the signed checkpoints cover the changes of a snapshot.
#[derive(Debug)]
pub(crate) enum Coverage {
    /// There are no logs before `sealward audit init`.
    NoLogs,
    /// A change of the snapshot is in no checkpoint yet.
    Behind,
    /// The checkpoint of management events covers all changes of the snapshot.
    Whole {
        /// The latest checkpoint of the operations.
        operations: Checkpoint,
        /// The latest checkpoint of the management events.
        management: Checkpoint,
    },
}

/// Whether the signed checkpoints cover the changes that this transaction, a snapshot, sees. Other events do not count:
/// unauthenticated requests cause them.
pub(crate) async fn coverage(mut rows: Rows<&mut PgConnection>) -> sqlx::Result<Coverage> {
    let keys = store::keys(rows.again()).await?;
    let [operations, management] = [Log::Operations, Log::Management];
    let Some(operations) = store::head(&mut *rows.executor, operations).await? else {
        return Ok(Coverage::NoLogs);
    };
    let Some(management) = store::head(&mut *rows.executor, management).await? else {
        return Ok(Coverage::NoLogs);
    };
    let connection = &mut *rows.executor;
    let operations = latest_checkpoint(connection, Log::Operations, &operations, &keys).await?;
    let management = latest_checkpoint(connection, Log::Management, &management, &keys).await?;
    let (Some(operations), Some(management)) = (operations, management) else {
        return Ok(Coverage::Behind);
    };
    let is_behind = store::lacks_changes(rows.executor, management.size).await?;
    Ok(if is_behind { Coverage::Behind } else { Coverage::Whole { operations, management } })
}

/// The content of a tile. None if the latest checkpoint does not need it, or if a record in it is
/// retired.
pub async fn tile(pool: &Pool, log: Log, tile: &Tile) -> sqlx::Result<Option<Vec<u8>>> {
    let mut connection = pool.acquire().await?;
    let head = store::head(&mut *connection, log).await?;
    let size = head.and_then(|head| head.signed).map_or(0, |signed| signed.size);
    if !tile.is_in(size) {
        return Ok(None);
    }
    match tile.content {
        TileContent::Hashes(level) => hashes(&mut connection, log, level, tile).await,
        TileContent::Entries => {
            drop(connection);
            let places = tile.start()..tile.start() + tile.width;
            bundle(pool, log, places).await
        }
    }
}

pub(super) async fn hashes(
    connection: &mut PgConnection,
    log: Log,
    level: u8,
    tile: &Tile,
) -> sqlx::Result<Option<Vec<u8>>> {
    let places = tile.start()..tile.start() + tile.width;
    let hashes = store::hashes(connection, log, level, places).await?;
    let is_whole = hashes.len() as u64 == tile.width;
    let bytes = hashes.iter().flat_map(|hash| *hash.as_bytes()).collect();
    Ok(is_whole.then_some(bytes))
}

async fn bundle(pool: &Pool, log: Log, places: Range<u64>) -> sqlx::Result<Option<Vec<u8>>> {
    let width = places.end - places.start;
    let mut bundle = Vec::new();
    let reader = pool.clone();
    let reading = async move { lines(&mut *reader.acquire().await?, log, places).await };
    let found = pool.read_slowly(reading).await?;
    let is_whole = found.len() as u64 == width;
    let whole = found.iter().all(|(_, line)| {
        let leaf = line.as_deref().and_then(|line| leaf(log, line).ok());
        leaf.is_some_and(|leaf| append_entry(&mut bundle, &leaf))
    });
    Ok((is_whole && whole).then_some(bundle))
}

/// Sealed records with their lines. A record that is retired has none.
pub(super) async fn lines(
    connection: &mut PgConnection,
    log: Log,
    indexes: Range<u64>,
) -> sqlx::Result<Vec<(Sealed, Option<String>)>> {
    let sealed = store::sealed(&mut *connection, log, indexes).await?;
    let keys: Vec<_> = sealed.iter().map(|it| it.key).collect();
    let records = records::read(connection, log, &keys).await?;
    let with_line = |it: Sealed| {
        let record = records.get(&it.key.id);
        (it, record.map(|record| record.line(Some(it.index))))
    };
    Ok(sealed.into_iter().map(with_line).collect())
}
