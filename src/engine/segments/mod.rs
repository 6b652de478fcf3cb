//! Segments: what a transaction that writes audit records writes for the sealer.
//!
//! The transaction of some records also inserts a segment: their identifiers and the hashes of their leaves, with a MAC
//! under the row key. So a record is in a segment exactly if it is committed, and the sealer only gives positions to
//! segments. A process without the row key writes records without a segment, which the sealer finds.

mod key;
mod leaf;
mod log;
mod place;
mod placement;
mod remove;
mod renew;
mod segment;
mod store;

use uuid::Uuid;

pub(crate) use self::key::{key_of, row_key};
pub use self::leaf::{NotARecord, leaf};
pub(crate) use self::leaf::{RETIRED, check_retired, has_hash_of_state, hash_of, kind};
pub use self::log::Log;
pub(crate) use self::placement::{Placed, Placement, placement};
pub use self::remove::remove_forged;
pub(crate) use self::renew::renew;
pub(crate) use self::segment::{Leaf, MOST, Segment};
pub(crate) use self::store::{SegmentRow, insert, insertion, place_column};
use crate::seals::RowKey;

/// The segments of these leaves under the row key. `name` makes the identifier of a segment from its last record.
pub(crate) fn segments(
    log: Log,
    leaves: Vec<Leaf>,
    key: &RowKey,
    name: impl Fn(Uuid) -> Uuid,
) -> Vec<Segment> {
    let parts = segment::cut(leaves).into_iter();
    let named = parts.filter_map(|part| Some((name(part.last()?.0), part)));
    named.map(|(id, part)| Segment::new(log, id, part, key)).collect()
}

/// The segments of one transaction, as the parameters of a statement.
#[derive(Clone, Debug)]
pub(crate) struct SegmentRows {
    log: Log,
    /// All records, and their hashes.
    ids: Vec<Uuid>,
    hashes: Vec<u8>,
    /// The places of the first and the last record of each segment, from 1.
    first: Vec<i32>,
    last: Vec<i32>,
    /// The identifiers of the segments.
    names: Vec<Uuid>,
    macs: Vec<Vec<u8>>,
    generation: u32,
}

impl SegmentRows {
    /// The rows of segments that [`segments`] made under this key.
    pub(crate) fn new(log: Log, segments: Vec<Segment>, key: &RowKey) -> Self {
        let mut rows = Self {
            log,
            ids: Vec::new(),
            hashes: Vec::new(),
            first: Vec::new(),
            last: Vec::new(),
            names: Vec::new(),
            macs: Vec::new(),
            generation: key.sealing(),
        };
        for segment in segments {
            rows.first.push(place(rows.ids.len() + 1));
            rows.ids.extend(segment.leaves.iter().map(|(id, _)| *id));
            rows.hashes.extend(segment.leaves.iter().flat_map(|(_, hash)| *hash.as_bytes()));
            rows.last.push(place(rows.ids.len()));
            rows.names.push(segment.id);
            rows.macs.push(segment.mac);
        }
        rows
    }
}

fn place(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(i32::MAX)
}
