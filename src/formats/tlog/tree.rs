//! A tree that grows. Only the hashes at its right edge are in memory.

use super::hash::Hash;
use super::tile::{LEVEL_BITS, TILE_WIDTH, count_at};

/// A tree: its size and, for each level of tiles, the hashes of its partial tile.
///
/// It takes at most 255 hashes for each level, so a tree of ten million leaves takes 24 KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    levels: Vec<Vec<Hash>>,
}

/// The root of a full tile, which is a hash of the tile one level above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The level of the tile that contains it, from 1.
    pub level: u8,
    /// Its position among the hashes of the level.
    pub index: u64,
    pub hash: Hash,
}

impl Tree {
    /// The tree with this size and these partial tiles, lowest level first. None if the number of
    /// hashes of a level does not fit the size.
    pub fn from_edge(size: u64, levels: Vec<Vec<Hash>>) -> Option<Self> {
        let count = u8::try_from(levels.len()).ok()?;
        let fits = |(level, hashes): (u8, &Vec<Hash>)| {
            hashes.len() as u64 == count_at(level, size) % TILE_WIDTH
        };
        let is_whole = count_at(count, size) == 0 && (0..).zip(&levels).all(fits);
        is_whole.then_some(Self { size, levels })
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf, and passes the root of each tile that it fills to `completed`.
    pub fn append(&mut self, leaf: Hash, mut completed: impl FnMut(Node)) {
        self.size += 1;
        let mut hash = leaf;
        for level in 0_u8.. {
            if self.levels.len() == usize::from(level) {
                self.levels.push(Vec::new());
            }
            let Some(hashes) = self.levels.get_mut(usize::from(level)) else {
                return;
            };
            hashes.push(hash);
            if (hashes.len() as u64) < TILE_WIDTH {
                return;
            }
            let Some(root) = followed_by(hashes, None) else {
                return;
            };
            hashes.clear();
            hash = root;
            let index = (self.size >> (LEVEL_BITS * (u32::from(level) + 1))) - 1;
            completed(Node { level: level + 1, index, hash });
        }
    }

    /// The root of the tree.
    pub fn root(&self) -> Hash {
        let levels = self.levels.iter();
        let root = levels.fold(None, |tail, hashes| followed_by(hashes, tail));
        root.unwrap_or_else(Hash::of_empty_tree)
    }
}

/// The root of the subtree of these hashes, followed by a smaller subtree. None if there are none.
pub(super) fn followed_by(mut hashes: &[Hash], tail: Option<Hash>) -> Option<Hash> {
    let mut subtrees = Vec::new();
    while !hashes.is_empty() {
        let (left, right) = hashes.split_at(1 << hashes.len().ilog2());
        subtrees.push(perfect(left)?);
        hashes = right;
    }
    let join = |tail, left| {
        Some(match tail {
            Some(tail) => Hash::of_children(&left, &tail),
            None => left,
        })
    };
    subtrees.into_iter().rev().fold(tail, join)
}

/// The root of a subtree whose number of hashes is a power of two.
fn perfect(hashes: &[Hash]) -> Option<Hash> {
    let mut level = hashes.to_vec();
    while level.len() > 1 {
        let pairs = level.as_chunks::<2>().0.iter();
        level = pairs.map(|[left, right]| Hash::of_children(left, right)).collect();
    }
    level.first().copied()
}
