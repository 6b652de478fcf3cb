//! The subtrees whose hashes form a proof, as ranges of leaves.

use std::ops::Range;

/// The subtrees of the proof that the leaf `index` is in the tree of `size` leaves, from the leaf to
/// the root (RFC 9162, section 2.1.3.1). None if the tree has no such leaf.
pub fn inclusion(index: u64, size: u64) -> Option<Vec<Range<u64>>> {
    if index >= size {
        return None;
    }
    let (mut tree, mut proof) = (0..size, Vec::new());
    while tree.end - tree.start > 1 {
        let middle = middle(&tree);
        if index < middle {
            proof.push(middle..tree.end);
            tree.end = middle;
        } else {
            proof.push(tree.start..middle);
            tree.start = middle;
        }
    }
    proof.reverse();
    Some(proof)
}

/// The subtrees of the proof that the tree of `new` leaves extends the tree of `old` leaves (RFC 9162,
/// section 2.1.4.1). None if `new` is smaller. The proof of the empty tree is empty.
pub fn consistency(old: u64, new: u64) -> Option<Vec<Range<u64>>> {
    if old > new {
        return None;
    }
    if old == 0 {
        return Some(Vec::new());
    }
    let (mut tree, mut proof) = (0..new, Vec::new());
    while old != tree.end {
        let middle = middle(&tree);
        if old <= middle {
            proof.push(middle..tree.end);
            tree.end = middle;
        } else {
            proof.push(tree.start..middle);
            tree.start = middle;
        }
    }
    // The verifier knows the root of the old tree itself.
    if tree.start > 0 {
        proof.push(tree);
    }
    proof.reverse();
    Some(proof)
}

/// Where the tree of two or more leaves is divided: the left part is the largest power of two that is
/// less than its size.
fn middle(tree: &Range<u64>) -> u64 {
    tree.start + (1 << (tree.end - tree.start - 1).ilog2())
}
