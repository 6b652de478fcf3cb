//! The segments of transactions that ended lately.

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};
use uuid::Uuid;

use super::clock::Moment;
use super::signed_number;
use crate::ledger::Log;
use crate::segments::{Segment, SegmentRow};

/// A segment in the order of transactions: its transaction, and its identifier.
pub(in crate::ledger) type TransactionKey = (i64, Uuid);

/// The segments of the transactions that had not ended at a moment.
#[derive(Debug)]
pub(in crate::ledger) struct Unread<'a> {
    pub(in crate::ledger) since: &'a Moment,
    /// Those after this one.
    pub(in crate::ledger) after: TransactionKey,
    /// Those of earlier transactions. Segments that were restored can name later ones, which do not exist.
    pub(in crate::ledger) end: i64,
}

/// Some of them.
#[derive(Debug)]
pub(in crate::ledger) struct RecentSlice {
    /// The segments without a position, in the order of their identifiers.
    pub(in crate::ledger) waiting: Vec<Segment>,
    /// The last segment that was read. None if there are no more.
    pub(in crate::ledger) last: Option<TransactionKey>,
}

/// A segment that was read. In SQL: `xact`, `id`, and the columns of [`SegmentRow`] if it `waits` for a position.
struct Read {
    key: TransactionKey,
    waiting: Option<SegmentRow>,
}

impl<'r> FromRow<'r, PgRow> for Read {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        let waits: bool = row.try_get("waits")?;
        let waiting = waits.then(|| SegmentRow::from_row(row)).transpose()?;
        Ok(Self { key: (row.try_get("xact")?, row.try_get("id")?), waiting })
    }
}

impl Unread<'_> {
    /// The ranges of transactions: after a segment, up to a transaction.
    fn ranges(&self) -> impl Iterator<Item = (TransactionKey, i64)> {
        let running = self.since.running.iter().map(|xact| (*xact, *xact));
        let ranges = running.chain([(self.since.next, self.end - 1)]);
        let unread = ranges.filter(|(_, last)| *last >= self.after.0);
        unread.map(|(first, last)| ((first, Uuid::nil()).max(self.after), last))
    }
}

/// The first `limit` unread segments of a log with `size` records. The form of the ranges lets Postgres use no other index
/// than that of transactions, whatever it knows of them.
pub(in crate::ledger) async fn recent(
    connection: &mut PgConnection,
    (log, size): (Log, u64),
    unread: Unread<'_>,
    limit: i64,
) -> sqlx::Result<RecentSlice> {
    let (after, last): (Vec<TransactionKey>, Vec<i64>) = unread.ranges().unzip();
    let (xacts, ids): (Vec<i64>, Vec<Uuid>) = after.into_iter().unzip();
    let text = |xacts: Vec<i64>| xacts.iter().map(i64::to_string).collect::<Vec<_>>();
    let found: Vec<Read> = sqlx::query_as(
        "WITH part AS MATERIALIZED (
             SELECT s.xact, s.id FROM unnest($2::text[], $3::uuid[], $4::text[]) AS range (xact, id, last)
              CROSS JOIN LATERAL (
                 SELECT xact, id FROM audit_log_segments
                  WHERE log = $1 AND (xact, id) > (range.xact::xid8, range.id) AND xact <= range.last::xid8
                  ORDER BY xact, id LIMIT $5) AS s
              ORDER BY s.xact, s.id LIMIT $5)
         SELECT part.xact::text::bigint AS xact, part.id, s.ids, s.hashes, s.mac, s.id IS NOT NULL AS waits
           FROM part LEFT JOIN LATERAL (
                    SELECT * FROM audit_log_segments s
                     WHERE s.log = $1 AND s.id = part.id AND coalesce((
                               SELECT p.base FROM audit_log_positions p
                                WHERE p.log = $1 AND p.segment = part.id), $6) >= $6
                    OFFSET 0) AS s ON true
          ORDER BY part.xact, part.id",
    )
    .bind(log.number())
    .bind(text(xacts))
    .bind(ids)
    .bind(text(last))
    .bind(limit)
    .bind(signed_number(size))
    .fetch_all(connection)
    .await?;
    let is_whole = i64::try_from(found.len()).is_ok_and(|read| read < limit);
    let last = found.last().map(|read| read.key).filter(|_| !is_whole);
    let waiting = found.into_iter().filter_map(|read| read.waiting);
    let mut waiting: Vec<_> = waiting.map(|row| row.of(log)).collect();
    waiting.sort_unstable_by_key(|segment| segment.id);
    Ok(RecentSlice { waiting, last })
}
