//! The trees of the logs, from the hashes in the database.

use std::ops::Range;
use std::slice;

use sqlx::PgConnection;

use super::{Log, store};
use crate::tlog::{Hash, TileContent, TileSet, Tree};

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
    subtrees: &[Range<u64>],
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
    let tiles = load_tiles(connection, log, slice::from_ref(&(0..size)), size).await?;
    Ok(tiles.root(size).ok())
}
