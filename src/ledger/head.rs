//! The heads of the logs.

use std::time::Duration;

use super::{Log, store};
use crate::clock::Timestamp;
use crate::tlog::{Checkpoint, Hash, Node, TileContent, TileSet, Tree};
use sqlx::PgConnection;

/// The head of a log, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) origin: String,
    pub(super) size: u64,
    pub(super) root: Hash,
    pub(super) signed: Option<Signed>,
    /// The latest checkpoint with cosignatures.
    pub(super) cosigned: Option<Signed>,
}

/// The latest checkpoint of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) note: String,
    pub(super) size: u64,
    pub(super) at: Timestamp,
}

/// How long the checkpoint before is served until the latest one has cosignatures.
const PATIENCE: Duration = Duration::from_secs(10);

impl Head {
    /// The checkpoint for clients: one with cosignatures, if it is recent. Witnesses need some time.
    pub(super) fn served(self, now: Timestamp) -> Option<Signed> {
        let latest = self.signed?;
        let is_recent = |it: &Signed| {
            it.size == latest.size
                || (now.since(latest.at) <= PATIENCE && latest.at.since(it.at) <= PATIENCE)
        };
        Some(self.cosigned.filter(is_recent).unwrap_or(latest))
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            origin: self.origin.clone(),
            size: self.size,
            root: self.root,
        }
    }
}

/// The tree of `size` leaves, from the hashes of its right edge.
pub(super) async fn load_tree(
    connection: &mut PgConnection,
    log: Log,
    size: u64,
) -> sqlx::Result<Option<Tree>> {
    let mut levels = Vec::new();
    let mut count = size;
    while count > 0 {
        let level = u8::try_from(levels.len()).unwrap_or(u8::MAX);
        let start = count / 256 * 256;
        levels.push(store::hashes(&mut *connection, log, level, start..count).await?);
        count /= 256;
    }
    Ok(Tree::from_edge(size, levels))
}

/// The tiles that the hashes of these subtrees need, in the tree of `size` leaves.
pub(super) async fn load_tiles(
    connection: &mut PgConnection,
    log: Log,
    subtrees: &[std::ops::Range<u64>],
    size: u64,
) -> sqlx::Result<TileSet> {
    let mut tiles = TileSet::default();
    for tile in TileSet::needed(subtrees, size) {
        if let TileContent::Hashes(level) = tile.content {
            let range = tile.start()..tile.start() + tile.width;
            let hashes = store::hashes(&mut *connection, log, level, range).await?;
            tiles.insert(level, tile.index, hashes);
        }
    }
    Ok(tiles)
}

/// The root of the first `size` leaves of a log. None if hashes are missing.
pub(super) async fn root_at(
    connection: &mut PgConnection,
    log: Log,
    size: u64,
) -> sqlx::Result<Option<Hash>> {
    let tiles = load_tiles(connection, log, std::slice::from_ref(&(0..size)), size).await?;
    Ok(tiles.root(size).ok())
}

/// The new rows of a batch of records.
#[derive(Debug, Default)]
pub(super) struct Growth {
    pub(super) leaves: Vec<(store::RecordKey, Hash)>,
    pub(super) nodes: Vec<Node>,
}
