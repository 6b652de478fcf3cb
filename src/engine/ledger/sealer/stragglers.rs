//! The records without a segment: those of a process without the row key, and those that no instance wrote.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::time::Instant;
use uuid::Uuid;

use super::growth::{OpenLog, grow};
use crate::ledger::positioned::is_own;
use crate::ledger::seal_error::SealError;
use crate::ledger::store::{self, RecordKey};
use crate::ledger::{Log, records};
use crate::seals::{Flaw, OlderRowKey, RowName, Seals};
use crate::segments::{self, Leaf, Segment, SegmentRows, key_of, row_key};
use formats::clock::Timestamp;

/// The number of records in one transaction.
const BATCH: usize = 250;

/// The age from which a record without a segment is a finding. A process without the row key gets it before.
const ALARM: Duration = Duration::from_secs(60 * 60);

/// Continues one sweep over the records, and seals those without a segment. It goes on until the deadline while it finds
/// some.
pub(super) async fn seal(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    (place, step): (usize, i64),
    (now, deadline): (Timestamp, Instant),
) -> Result<(), SealError> {
    while let Some(sweep) = open.records.get_mut(place) {
        let after = sweep.place(now);
        let of_log = (open.log, open.head.size);
        let slice = store::record_slice(connection, of_log, &open.foreign, after, step).await?;
        let is_last = sweep.advance(slice.end);
        let bare = without_segment(connection, seals, open, &slice.unsealed).await?;
        for batch in bare.chunks(BATCH) {
            note(seals, open.log, batch, now)?;
            let made = make_segments(connection, seals, open, batch).await?;
            let leaves: usize = made.iter().map(|segment| segment.leaves.len()).sum();
            open.stragglers += u64::try_from(leaves).unwrap_or(u64::MAX);
            grow(connection, seals, open, made).await?;
        }
        if is_last || bare.is_empty() || Instant::now() >= deadline {
            break;
        }
    }
    Ok(())
}

/// Those of these records that are in no segment that an instance wrote. The segments are read after the records, so
/// that those of the same transaction are seen.
async fn without_segment(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &OpenLog,
    found: &[RecordKey],
) -> Result<Vec<RecordKey>, SealError> {
    let ids = || found.iter().map(|record| record.id);
    let Some(range) = ids().min().zip(ids().max()) else {
        return Ok(Vec::new());
    };
    let around = store::around(connection, open.log, range, open.head.size).await?;
    let waiting = around.iter().filter(|(_, is_sealed)| !is_sealed);
    let key = key_of(seals, waiting.map(|(segment, _)| segment)).await?;
    let covering = around.iter().filter(|(segment, is_sealed)| match is_sealed {
        true => !open.foreign.contains(&segment.id),
        false => is_own(seals, &key, segment),
    });
    let covered: HashSet<Uuid> =
        covering.flat_map(|(segment, _)| segment.leaves.iter().map(|(id, _)| *id)).collect();
    let bare = found.iter().filter(|record| !covered.contains(&record.id));
    Ok(bare.copied().collect())
}

/// An old record that no instance wrote is named. The first of a batch stands for all.
fn note(seals: &Seals, log: Log, batch: &[RecordKey], now: Timestamp) -> Result<(), SealError> {
    match batch.iter().find(|record| record.ts < now.minus(ALARM)) {
        Some(old) => find(seals, log, old.id),
        None => Ok(()),
    }
}

/// Names a record that is not sealed as an instance seals records.
fn find(seals: &Seals, log: Log, id: Uuid) -> Result<(), SealError> {
    let row = RowName { table: table(log), id };
    Ok(seals.note(row, Flaw::Unsealed).map_err(sqlx::Error::from)?)
}

/// The table of the records of a log.
pub(super) const fn table(log: Log) -> &'static str {
    match log {
        Log::Operations => "crypto_operations_audit",
        Log::Management => "management_events",
    }
}

/// Writes segments for records. Another sealer that has lost its lock can do the same: only one at a time does.
async fn make_segments(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &OpenLog,
    batch: &[RecordKey],
) -> Result<Vec<Segment>, SealError> {
    let mut transaction = connection.begin().await?;
    store::lock_stragglers(&mut transaction).await?;
    let bare = without_segment(&mut transaction, seals, open, batch).await?;
    let found = records::read(&mut transaction, open.log, &bare).await?;
    let mut leaves: Vec<Leaf> = Vec::new();
    // The day of a record that is missing was retired meanwhile.
    for (id, record) in found {
        match record.hash().filter(|_| record.is_of_known_type()) {
            Some(hash) => leaves.push((id, hash)),
            // It is too long for a leaf or of an unknown type, as no record is that an instance of this release writes.
            None => find(seals, open.log, id)?,
        }
    }
    if leaves.is_empty() {
        return Ok(Vec::new());
    }
    let key = row_key(seals)?;
    // The name of the segment cannot be guessed and taken before.
    let offset = 1 + u128::from(store::random(&mut *transaction).await? % (1 << 32));
    let name = |last: Uuid| Uuid::from_u128(last.as_u128().saturating_add(offset));
    let made = segments::segments(open.log, leaves, &key, name);
    let is_current =
        segments::insert(&mut *transaction, SegmentRows::new(open.log, made.clone(), &key));
    if !is_current.await? {
        return Err(sqlx::Error::from(OlderRowKey).into());
    }
    transaction.commit().await?;
    Ok(made)
}
