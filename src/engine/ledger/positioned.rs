//! The tree of the segments that have positions. The login of the service can give positions to segments of its own,
//! and compute any nodes and any root.

use sqlx::PgConnection;

use super::Log;
use super::head::Head;
use super::seal_error::SealError;
use super::store::{self, Growth};
use super::tree::load_tree;
use crate::seals::{RowKey, RowName, Seals};
use crate::segments::{Segment, row_key};
use formats::tlog::Tree;

/// The number of positions that a query may read, which is more than one segment can hide.
const PAGE: i64 = 2_000;

/// The table of segments, for findings.
const TABLE: &str = "audit_log_segments";

/// Some of the segments whose positions follow the tree, one after another, up to `end`. None if the next one is missing.
pub(super) async fn following(
    connection: &mut PgConnection,
    (log, end): (Log, u64),
    tree: &Tree,
) -> sqlx::Result<Vec<Segment>> {
    let mut next = tree.size();
    let found = store::positioned(connection, log, next..end, PAGE).await?;
    // The first ones can end before.
    let found = found.into_iter().skip_while(|(base, _)| *base < tree.size());
    let following = found.take_while(|(base, segment)| {
        let follows = *base == next && !segment.leaves.is_empty();
        next += segment.leaves.len() as u64;
        follows
    });
    Ok(following.map(|(_, segment)| segment).collect())
}

/// Adds the leaves of a segment to a tree, and the nodes that they complete to its growth.
pub(super) fn append(tree: &mut Tree, segment: &Segment, growth: &mut Growth) {
    for (_, hash) in &segment.leaves {
        tree.append(*hash, |node| growth.nodes.push(node));
    }
}

/// Whether an instance wrote the segment. Notes if not.
pub(super) fn is_own(seals: &Seals, key: &RowKey, segment: &Segment) -> bool {
    let verified = segment.verify(key);
    if let Err(flaw) = verified {
        // Only without a row key there are no findings.
        let _ = seals.note(RowName { table: TABLE, id: segment.id }, flaw);
    }
    verified.is_ok()
}

/// The tree of a log that is `trusted` up to a size: from there on, instances wrote its segments, and their hashes
/// lead to the head.
pub(super) async fn check_own(
    connection: &mut PgConnection,
    seals: &Seals,
    (log, head): (Log, &Head),
    trusted: u64,
) -> Result<(), SealError> {
    let key = row_key(seals)?;
    check_growth(connection, (log, head), trusted, |segment| is_own(seals, &key, segment)).await
}

/// Whether a log that has the tree of a size has grown from there by accepted segments alone, whose hashes lead to each
/// node and to the head.
pub(super) async fn check_growth(
    connection: &mut PgConnection,
    (log, head): (Log, &Head),
    size: u64,
    is_accepted: impl Fn(&Segment) -> bool,
) -> Result<(), SealError> {
    let tree = load_tree(&mut *connection, log, size).await?;
    let (mut tree, mut growth) = (tree.ok_or(SealError::Broken(log))?, Growth::default());
    while tree.size() < head.size {
        let segments = following(&mut *connection, (log, head.size), &tree).await?;
        if segments.is_empty() || !segments.iter().all(&is_accepted) {
            return Err(SealError::Untrusted(log));
        }
        for segment in &segments {
            append(&mut tree, segment, &mut growth);
        }
    }
    for node in growth.nodes {
        let place = node.index..node.index + 1;
        if store::hashes(&mut *connection, log, node.level, place).await? != [node.hash] {
            return Err(SealError::Untrusted(log));
        }
    }
    match tree.size() == head.size && tree.root() == head.root {
        true => Ok(()),
        false => Err(SealError::Untrusted(log)),
    }
}
