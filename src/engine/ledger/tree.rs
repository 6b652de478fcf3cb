//! The trees of the logs, from the hashes in the database.

use std::ops::Range;
use std::slice;

use sqlx::PgConnection;

use super::{Log, store};
use formats::tlog::{Hash, TileContent, TileSet, Tree, consistency, verify_consistency};

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

/// The proof that the tree of `new` leaves extends the tree of `old` leaves. None if hashes are missing.
pub(super) async fn consistency_proof(
    connection: &mut PgConnection,
    log: Log,
    old: u64,
    new: u64,
) -> sqlx::Result<Option<Vec<Hash>>> {
    let Some(subtrees) = consistency(old, new) else {
        return Ok(None);
    };
    let tiles = load_tiles(connection, log, &subtrees, new).await?;
    Ok(tiles.hashes(&subtrees).ok())
}

/// Whether the tree of a size and root extends the one before it, and the log still has the hashes of that.
pub(super) async fn extends(
    connection: &mut PgConnection,
    log: Log,
    (old, old_root): (u64, Hash),
    (new, new_root): (u64, Hash),
) -> sqlx::Result<bool> {
    if old > new || root_at(connection, log, old).await? != Some(old_root) {
        return Ok(false);
    }
    let proof = consistency_proof(connection, log, old, new).await?;
    let verified = proof.map(|proof| verify_consistency((old, old_root), (new, new_root), &proof));
    Ok(verified.is_some_and(|verified| verified.is_ok()))
}
