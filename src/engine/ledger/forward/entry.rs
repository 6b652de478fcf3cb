//! The entries that a collector receives.

use std::ops::Range;

use serde_json::json;
use sqlx::PgConnection;

use crate::ledger::store::Sealed;
use crate::ledger::{Log, read};
use crate::segments::{RETIRED, kind, leaf};
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// The number of records that are read at once.
const STEP: u64 = 100;

/// The maximum number of entries of a batch.
const MOST: usize = 1_000;

/// A sealed record.
#[derive(Debug)]
pub(super) struct ForwardedRecord {
    pub(super) index: u64,
    /// The time of the record.
    pub(super) at: Timestamp,
    /// Its leaf with `log_index`, one line. It is a line of an export, too.
    pub(super) line: String,
    pub(super) hash: Hash,
}

impl ForwardedRecord {
    fn new(log: Log, sealed: &Sealed, record: Option<&str>) -> Self {
        let index = sealed.index;
        let leaf = record.and_then(|record| leaf(log, record).ok());
        let text = leaf.and_then(|leaf| String::from_utf8(leaf).ok());
        let line = match text.as_deref().and_then(|text| text.strip_prefix('{')) {
            Some(members) => format!("{{\"log_index\":{index},{members}"),
            // The record is retired, or missing, as verification shows.
            None => hash_line(log, index, sealed.leaf_hash),
        };
        Self { index, at: sealed.key.ts, line, hash: sealed.leaf_hash }
    }

    /// The entry without its record, as for a retired record.
    pub(super) fn without_record(&self, log: Log) -> Self {
        Self { line: hash_line(log, self.index, self.hash), ..*self }
    }
}

fn hash_line(log: Log, index: u64, hash: Hash) -> String {
    json!({ "log_index": index, RETIRED: hash.to_string(), "type": kind(log) }).to_string()
}

/// The entries of a log from `start`, without those beyond this number of bytes, but at least one if
/// there is one.
pub(super) async fn batch(
    connection: &mut PgConnection,
    log: Log,
    start: u64,
    bytes: usize,
) -> sqlx::Result<Vec<ForwardedRecord>> {
    let mut batch: Vec<ForwardedRecord> = Vec::new();
    let (mut size, mut next) = (0, start);
    loop {
        let found = read::lines(connection, log, next_range(next)).await?;
        let is_last = (found.len() as u64) < STEP;
        for (sealed, record) in found {
            // What follows a missing position is not sent before it.
            if sealed.index != next {
                return Ok(batch);
            }
            let entry = ForwardedRecord::new(log, &sealed, record.as_deref());
            size += entry.line.len() + 1;
            if size > bytes && !batch.is_empty() {
                return Ok(batch);
            }
            next = entry.index + 1;
            batch.push(entry);
        }
        if is_last || batch.len() >= MOST {
            return Ok(batch);
        }
    }
}

fn next_range(start: u64) -> Range<u64> {
    start..start.saturating_add(STEP)
}
