//! Verification of proofs.

use super::hash::Hash;

/// A proof does not prove its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof does not lead to the root of the checkpoint")]
pub struct InvalidProof;

/// Verifies that `leaf` is at `index` of the tree (RFC 9162, section 2.1.3.2).
///
/// # Errors
/// The proof is invalid.
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
    let (mut node, mut last, mut hash) = (index, size - 1, leaf);
    for sibling in proof {
        if last == 0 {
            return Err(InvalidProof);
        }
        if node % 2 == 1 || node == last {
            hash = Hash::of_children(sibling, &hash);
            let levels = if node % 2 == 1 {
                0
            } else {
                node.trailing_zeros()
            };
            // A node without a sibling moves up unchanged. The last node of a level is 0 only at the
            // root, so `node` has a bit here.
            node = node.checked_shr(levels).ok_or(InvalidProof)?;
            last >>= levels;
        } else {
            hash = Hash::of_children(&hash, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    ensure(last == 0 && hash == root)
}

/// Verifies that the new tree extends the old one (RFC 9162, section 2.1.4.2). Each tree extends the
/// empty one.
///
/// # Errors
/// The proof is invalid, or the new tree is smaller.
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
    let (mut node, mut last) = ((old_size - 1) >> whole, (new_size - 1) >> whole);
    let (mut old, mut new) = (first, first);
    for sibling in rest {
        if last == 0 {
            return Err(InvalidProof);
        }
        if node % 2 == 1 || node == last {
            old = Hash::of_children(sibling, &old);
            new = Hash::of_children(sibling, &new);
            let levels = if node % 2 == 1 {
                0
            } else {
                node.trailing_zeros()
            };
            node = node.checked_shr(levels).ok_or(InvalidProof)?;
            last >>= levels;
        } else {
            new = Hash::of_children(&new, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    ensure(last == 0 && old == old_root && new == new_root)
}

fn ensure(is_proven: bool) -> Result<(), InvalidProof> {
    if is_proven { Ok(()) } else { Err(InvalidProof) }
}
