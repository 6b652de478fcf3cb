//! The segments that wait for a position, and those that have one.

use std::ops::Range;

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, PgExecutor, Row as _};
use uuid::Uuid;

use super::records::RecordKey;
use super::{natural, signed_number};
use crate::ids::time_of;
use crate::ledger::Log;
use crate::segments::{MOST, Segment, SegmentRow};
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// Lets the statements of this session read tables by their indexes, also if statistics are old.
pub(in crate::ledger) async fn avoid_sequential_scans(
    connection: &mut PgConnection,
) -> sqlx::Result<()> {
    sqlx::query("SET enable_seqscan = off").execute(connection).await?;
    Ok(())
}

/// A part of the segments in the order of their identifiers.
#[derive(Debug)]
pub(in crate::ledger) struct Slice {
    /// The segments without a position.
    pub(in crate::ledger) waiting: Vec<Segment>,
    /// The last segment of the part. None if there are no more segments after the part.
    pub(in crate::ledger) end: Option<Uuid>,
}

/// A segment with its position, if it has one. In SQL: the columns of [`SegmentRow`] and `base`.
struct Based {
    segment: SegmentRow,
    base: Option<i64>,
}

impl<'r> FromRow<'r, PgRow> for Based {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self { segment: SegmentRow::from_row(row)?, base: row.try_get("base")? })
    }
}

/// The `limit` segments between two identifiers, of a log with `size` records. Nearly all of them have positions, so the
/// identifiers are compared before anything else is read: a join could read all positions.
pub(in crate::ledger) async fn slice(
    connection: &mut PgConnection,
    log: Log,
    (after, before): (Uuid, Uuid),
    limit: i64,
    size: u64,
) -> sqlx::Result<Slice> {
    let end: Option<Uuid> = sqlx::query_scalar(
        "SELECT id FROM audit_log_segments WHERE log = $1 AND id > $2 AND id <= $3
          ORDER BY id OFFSET $4 - 1 LIMIT 1",
    )
    .bind(log.number())
    .bind(after)
    .bind(before)
    .bind(limit)
    .fetch_optional(&mut *connection)
    .await?;
    let waiting: Vec<SegmentRow> = sqlx::query_as(
        "SELECT s.id, s.ids, s.hashes, s.mac
           FROM (SELECT id FROM audit_log_segments WHERE log = $1 AND id > $2 AND id <= $3
                 EXCEPT SELECT segment FROM (
                     SELECT segment, base FROM audit_log_positions
                      WHERE log = $1 AND segment > $2 AND segment <= $3 OFFSET 0) AS near WHERE base < $4) AS waiting
          CROSS JOIN LATERAL (SELECT * FROM audit_log_segments s
                               WHERE s.log = $1 AND s.id = waiting.id OFFSET 0) AS s
          ORDER BY s.id",
    )
    .bind(log.number())
    .bind(after)
    .bind(end.unwrap_or(before))
    .bind(signed_number(size))
    .fetch_all(connection)
    .await?;
    let waiting = waiting.into_iter().map(|row| row.of(log)).collect();
    Ok(Slice { waiting, end })
}

/// The segments that can have records of this range, and whether each has a position in a log with `size` records.
pub(in crate::ledger) async fn around(
    connection: &mut PgConnection,
    log: Log,
    (first, last): (Uuid, Uuid),
    size: u64,
) -> sqlx::Result<Vec<(Segment, bool)>> {
    let found: Vec<Based> = sqlx::query_as(
        "SELECT s.id, s.ids, s.hashes, s.mac,
                (SELECT p.base FROM audit_log_positions p WHERE p.log = s.log AND p.segment = s.id) AS base
           FROM audit_log_segments s
          WHERE s.log = $1 AND s.id >= $2 AND s.id <= audit_segment_bound($3) ORDER BY s.id",
    )
    .bind(log.number())
    .bind(first)
    .bind(last)
    .fetch_all(connection)
    .await?;
    let size = signed_number(size);
    let found = found.into_iter();
    Ok(found.map(|it| (it.segment.of(log), it.base.is_some_and(|base| base < size))).collect())
}

/// Waits for other processes that write segments of records without one, until the transaction ends.
pub(in crate::ledger) async fn lock_stragglers(connection: &mut PgConnection) -> sqlx::Result<()> {
    let lock = "SELECT pg_advisory_xact_lock(hashtext('audit_log_segments'), 1)";
    sqlx::query(lock).execute(connection).await?;
    Ok(())
}

/// 62 random bits.
pub(in crate::ledger) async fn random(database: impl PgExecutor<'_>) -> sqlx::Result<u64> {
    let id: Uuid = sqlx::query_scalar("SELECT gen_random_uuid()").fetch_one(database).await?;
    let (_variant, bits) = id.as_u64_pair();
    Ok(bits & (u64::MAX >> 2))
}

/// The segments of a log that have positions in this range, in its order, with the position of each.
pub(in crate::ledger) async fn positioned(
    database: impl PgExecutor<'_>,
    log: Log,
    indexes: Range<u64>,
    limit: i64,
) -> sqlx::Result<Vec<(u64, Segment)>> {
    let found: Vec<Based> = sqlx::query_as(
        "SELECT p.base, s.id, s.ids, s.hashes, s.mac
           FROM (SELECT log, base, segment FROM audit_log_positions
                  WHERE log = $1 AND base > $2 AND base < $3 ORDER BY base) AS p
          CROSS JOIN LATERAL (SELECT * FROM audit_log_segments s
                               WHERE s.log = p.log AND s.id = p.segment OFFSET 0) AS s
          ORDER BY p.base LIMIT $4",
    )
    .bind(log.number())
    .bind(signed_number(indexes.start) - i64::try_from(MOST).unwrap_or(i64::MAX))
    .bind(signed_number(indexes.end))
    .bind(limit)
    .fetch_all(database)
    .await?;
    let found = found.into_iter();
    found.map(|it| Ok((natural(it.base.unwrap_or(-1))?, it.segment.of(log)))).collect()
}

/// A sealed record.
#[derive(Clone, Copy, Debug)]
pub(in crate::ledger) struct Sealed {
    pub(in crate::ledger) index: u64,
    pub(in crate::ledger) key: RecordKey,
    pub(in crate::ledger) leaf_hash: Hash,
    pub(in crate::ledger) segment: Uuid,
}

impl Sealed {
    /// The records of a segment with this position.
    fn of(base: u64, segment: Segment) -> impl Iterator<Item = Self> {
        let Segment { id: segment, leaves, .. } = segment;
        (base..).zip(leaves).map(move |(index, (id, leaf_hash))| Self {
            index,
            key: RecordKey::of(id),
            leaf_hash,
            segment,
        })
    }
}

/// The sealed records in a range of positions, in the order of the log. With missing or overlapping segments, a
/// position is missing or there are several records with it.
pub(in crate::ledger) async fn sealed(
    database: impl PgExecutor<'_>,
    log: Log,
    indexes: Range<u64>,
) -> sqlx::Result<Vec<Sealed>> {
    let found = positioned(database, log, indexes.clone(), i64::MAX).await?;
    let records = found.into_iter().flat_map(|(base, segment)| Sealed::of(base, segment));
    Ok(records.filter(|sealed| indexes.contains(&sealed.index)).collect())
}

/// The first sealed record from this position on.
pub(in crate::ledger) async fn first_sealed_from(
    connection: &mut PgConnection,
    log: Log,
    index: u64,
) -> sqlx::Result<Option<Sealed>> {
    // No segment before it can have so many records.
    let found = positioned(connection, log, index..u64::MAX, MOST as i64 + 1).await?;
    let mut records = found.into_iter().flat_map(|(base, segment)| Sealed::of(base, segment));
    Ok(records.find(|sealed| sealed.index >= index))
}

/// The times of the sealed segments around this time: the last one until it, and the first one after it.
pub(in crate::ledger) async fn sealed_around(
    connection: &mut PgConnection,
    log: Log,
    ts: Timestamp,
) -> sqlx::Result<(Option<Timestamp>, Option<Timestamp>)> {
    let end = RecordKey { ts: ts.plus(std::time::Duration::from_millis(1)), id: Uuid::nil() };
    // The login of the service can name a segment later than any time that this process knows.
    let (before, after): (Option<Uuid>, Option<Uuid>) = sqlx::query_as(
        "SELECT (SELECT segment FROM audit_log_positions
                  WHERE log = $1 AND segment < $2 ORDER BY segment DESC LIMIT 1),
                (SELECT segment FROM audit_log_positions
                  WHERE log = $1 AND segment >= $2 ORDER BY segment LIMIT 1)",
    )
    .bind(log.number())
    .bind(end.first_id())
    .fetch_one(connection)
    .await?;
    Ok((before.map(time_of), after.map(time_of)))
}
