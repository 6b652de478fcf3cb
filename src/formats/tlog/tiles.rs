//! Proofs and roots from tiles of hashes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::hash::Hash;
use super::tile::{LEVEL_BITS, TILE_WIDTH, Tile, TileContent};
use super::tree::followed_by;

/// Some tiles of a tree.
#[derive(Clone, Debug, Default)]
pub struct TileSet(BTreeMap<(u8, u64), Vec<Hash>>);

/// A tile that the hash of a subtree needs is not in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tile {index} of level {level} is missing or incomplete")]
pub struct MissingTile {
    /// The level of the tile.
    pub level: u8,
    /// The index of the tile.
    pub index: u64,
}

/// A subtree whose number of leaves is a power of two, as consecutive hashes of one tile.
struct Piece {
    level: u8,
    tile: u64,
    hashes: Range<usize>,
}

impl TileSet {
    /// The tiles that the hashes of these subtrees of a tree of `size` leaves need.
    pub fn needed(subtrees: &[Range<u64>], size: u64) -> BTreeSet<Tile> {
        let pieces = subtrees.iter().flat_map(pieces);
        pieces
            .filter_map(|it| Tile::in_tree(TileContent::Hashes(it.level), it.tile, size))
            .collect()
    }

    /// Adds a tile of hashes.
    pub fn insert(&mut self, level: u8, index: u64, hashes: Vec<Hash>) {
        self.0.insert((level, index), hashes);
    }

    /// The hashes of subtrees that a proof or the division of a tree names.
    pub fn hashes(&self, subtrees: &[Range<u64>]) -> Result<Vec<Hash>, MissingTile> {
        subtrees.iter().map(|subtree| self.hash(subtree)).collect()
    }

    /// The root of the tree of `size` leaves.
    pub fn root(&self, size: u64) -> Result<Hash, MissingTile> {
        if size == 0 {
            return Ok(Hash::of_empty_tree());
        }
        self.hash(&(0..size))
    }

    fn hash(&self, subtree: &Range<u64>) -> Result<Hash, MissingTile> {
        let mut root = None;
        for piece in pieces(subtree).into_iter().rev() {
            let missing = MissingTile { level: piece.level, index: piece.tile };
            let tile = self.0.get(&(piece.level, piece.tile)).ok_or(missing)?;
            let hashes = tile.get(piece.hashes).ok_or(missing)?;
            let left = followed_by(hashes, None).ok_or(missing)?;
            root = Some(root.map_or(left, |right| Hash::of_children(&left, &right)));
        }
        Ok(root.unwrap_or_else(Hash::of_empty_tree))
    }
}

/// The subtree, divided into pieces of decreasing size.
fn pieces(subtree: &Range<u64>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = subtree.start;
    while start < subtree.end {
        let height = (subtree.end - start).ilog2();
        let (level, bits) = (height / LEVEL_BITS, height % LEVEL_BITS);
        let first = start >> (LEVEL_BITS * level);
        // Both are less than 256.
        let within = usize::try_from(first % TILE_WIDTH).unwrap_or_default();
        pieces.push(Piece {
            level: u8::try_from(level).unwrap_or(u8::MAX),
            tile: first / TILE_WIDTH,
            hashes: within..within + (1 << bits),
        });
        start += 1 << height;
    }
    pieces
}
