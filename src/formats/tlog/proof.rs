//! Verification of proofs.

use super::hash::Hash;

/// A proof does not prove its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof does not lead to the root of the checkpoint")]
pub struct InvalidProof;

/// Verifies that `leaf` is at `index` of the tree (RFC 9162, section 2.1.3.2).
pub fn verify_inclusion(
    leaf: Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
    root: Hash,
) -> Result<(), InvalidProof> {
    if index >= size {
        return Err(InvalidProof);
    }
    let (mut path, mut hash) = (Path::new(index, size - 1), leaf);
    for sibling in proof {
        hash = match path.up()? {
            Side::Left => Hash::of_children(sibling, &hash),
            Side::Right => Hash::of_children(&hash, sibling),
        };
    }
    ensure(path.is_at_root() && hash == root)
}

/// Verifies that the new tree extends the old one (RFC 9162, section 2.1.4.2). Each tree extends the
/// empty one.
pub fn verify_consistency(
    (old_size, old_root): (u64, Hash),
    (new_size, new_root): (u64, Hash),
    proof: &[Hash],
) -> Result<(), InvalidProof> {
    if old_size > new_size {
        return Err(InvalidProof);
    }
    if old_size == new_size {
        return ensure(proof.is_empty() && old_root == new_root);
    }
    if old_size == 0 {
        return ensure(proof.is_empty() && old_root == Hash::of_empty_tree());
    }
    let (first, rest) = if old_size.is_power_of_two() {
        (old_root, proof)
    } else {
        let (first, rest) = proof.split_first().ok_or(InvalidProof)?;
        (*first, rest)
    };
    let whole = (old_size - 1).trailing_ones();
    let mut path = Path::new((old_size - 1) >> whole, (new_size - 1) >> whole);
    let (mut old, mut new) = (first, first);
    for sibling in rest {
        match path.up()? {
            Side::Left => {
                old = Hash::of_children(sibling, &old);
                new = Hash::of_children(sibling, &new);
            }
            Side::Right => new = Hash::of_children(&new, sibling),
        }
    }
    ensure(path.is_at_root() && old == old_root && new == new_root)
}

/// The place of a node in its level, and of the last node of that level, on the way to the root.
struct Path {
    node: u64,
    last: u64,
}

/// The side of a node on which its sibling is.
enum Side {
    Left,
    Right,
}

impl Path {
    fn new(node: u64, last: u64) -> Self {
        Self { node, last }
    }

    fn is_at_root(&self) -> bool {
        self.last == 0
    }

    /// Moves to the parent, and returns the side of the sibling.
    fn up(&mut self) -> Result<Side, InvalidProof> {
        if self.is_at_root() {
            return Err(InvalidProof);
        }
        let side = match self.node % 2 == 1 || self.node == self.last {
            true => Side::Left,
            false => Side::Right,
        };
        if self.node == self.last {
            // A node without a sibling moves up unchanged. The last node of a level is 0 only at the
            // root, so `node` has a bit here.
            let levels = self.node.trailing_zeros();
            self.node = self.node.checked_shr(levels).ok_or(InvalidProof)?;
            self.last >>= levels;
        }
        self.node >>= 1;
        self.last >>= 1;
        Ok(side)
    }
}

fn ensure(is_proven: bool) -> Result<(), InvalidProof> {
    if is_proven { Ok(()) } else { Err(InvalidProof) }
}
