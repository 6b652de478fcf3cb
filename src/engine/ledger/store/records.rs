//! The records that a log seals, and the sealed ones.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use sqlx::{AssertSqlSafe, PgConnection, PgExecutor};
use uuid::Uuid;

use super::{hash, natural, number, signed_number};
use crate::ledger::Log;
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// What identifies a record in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ledger) struct RecordKey {
    pub(in crate::ledger) ts: Timestamp,
    pub(in crate::ledger) id: Uuid,
}

/// A sealed record.
#[derive(Clone, Copy, Debug)]
pub(in crate::ledger) struct Sealed {
    pub(in crate::ledger) index: u64,
    pub(in crate::ledger) key: RecordKey,
    pub(in crate::ledger) leaf_hash: Hash,
}

/// The records after the key `$1`, `$2`, at most `$3`, in the order of an index. Identifiers of management
/// events begin with their time.
const fn records_after(log: Log) -> &'static str {
    match log {
        Log::Operations => {
            "SELECT ts, id, row_number() OVER (ORDER BY ts, id) AS place FROM crypto_operations_audit
              WHERE ts >= $1 AND (ts, id) > ($1, $2) ORDER BY ts, id LIMIT $3"
        }
        Log::Management => {
            "SELECT at AS ts, id, row_number() OVER (ORDER BY id) AS place FROM management_events
              WHERE id > $2 AND $1::timestamptz IS NOT NULL ORDER BY id LIMIT $3"
        }
    }
}

/// The first identifier of records with the time of this key, unless the key names a record.
fn first_id(key: RecordKey) -> Uuid {
    let millis = u128::try_from(key.ts.as_millis()).unwrap_or_default();
    if key.id.is_nil() { Uuid::from_u128(millis << 80) } else { key.id }
}

/// A part of the records in the order of their keys.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Slice {
    /// The records without a position in their log.
    pub(in crate::ledger) unsealed: Vec<RecordKey>,
    /// The last record of the part. None if there are no more records after the part.
    pub(in crate::ledger) end: Option<RecordKey>,
}

/// The `limit` records after `after`, of a log with `size` records. Only committed records are visible, so
/// the order of commits does not matter.
pub(in crate::ledger) async fn slice(
    connection: &mut PgConnection,
    log: Log,
    after: RecordKey,
    limit: i64,
    size: u64,
) -> sqlx::Result<Slice> {
    let id = match log {
        Log::Operations => after.id,
        Log::Management => first_id(after),
    };
    let sql = format!(
        "WITH slice AS MATERIALIZED ({}),
         marked AS (
             SELECT *, EXISTS (SELECT FROM audit_log_index i
                                WHERE i.record_id = slice.id
                                  AND i.record_ts = date_trunc('milliseconds', slice.ts)
                                  AND i.log = $4 AND i.log_index < $5) AS sealed
               FROM slice)
         SELECT ts, id, sealed, place = $3 FROM marked WHERE NOT sealed OR place = $3 ORDER BY place",
        records_after(log)
    );
    let rows: Vec<(Timestamp, Uuid, bool, bool)> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(after.ts)
        .bind(id)
        .bind(limit)
        .bind(number(log))
        .bind(signed_number(size))
        .fetch_all(connection)
        .await?;
    let mut slice = Slice::default();
    for (ts, id, is_sealed, is_last) in rows {
        let key = RecordKey { ts, id };
        if !is_sealed {
            slice.unsealed.push(key);
        }
        if is_last {
            slice.end = Some(key);
        }
    }
    Ok(slice)
}

/// The times of the sealed records around this time: the last one until it, and the first one after it.
pub(in crate::ledger) async fn sealed_around(
    connection: &mut PgConnection,
    log: Log,
    ts: Timestamp,
) -> sqlx::Result<(Option<Timestamp>, Option<Timestamp>)> {
    sqlx::query_as(
        "SELECT max(record_ts) FILTER (WHERE record_ts <= $2),
                min(record_ts) FILTER (WHERE record_ts > $2)
           FROM audit_log_index WHERE log = $1",
    )
    .bind(number(log))
    .bind(ts)
    .fetch_one(connection)
    .await
}

#[derive(sqlx::FromRow)]
struct SealedRow {
    log_index: i64,
    record_ts: Timestamp,
    record_id: Uuid,
    leaf_hash: Vec<u8>,
}

impl TryFrom<SealedRow> for Sealed {
    type Error = sqlx::Error;

    fn try_from(row: SealedRow) -> sqlx::Result<Self> {
        Ok(Self {
            index: natural(row.log_index)?,
            key: RecordKey { ts: row.record_ts, id: row.record_id },
            leaf_hash: hash(&row.leaf_hash)?,
        })
    }
}

/// Sealed records of a log, in its order. Positions beyond the log are none of it.
pub(in crate::ledger) async fn sealed(
    database: impl PgExecutor<'_>,
    log: Log,
    indexes: Range<u64>,
) -> sqlx::Result<Vec<Sealed>> {
    let rows: Vec<SealedRow> = sqlx::query_as(
        "SELECT log_index, record_ts, record_id, leaf_hash FROM audit_log_index
          WHERE log = $1 AND log_index >= $2 AND log_index < $3
            AND log_index < (SELECT size FROM audit_log_heads WHERE log = $1)
          ORDER BY log_index",
    )
    .bind(number(log))
    .bind(signed_number(indexes.start))
    .bind(signed_number(indexes.end))
    .fetch_all(database)
    .await?;
    rows.into_iter().map(Sealed::try_from).collect()
}

/// A record in a log, if it is sealed.
pub(in crate::ledger) async fn sealed_record(
    database: impl PgExecutor<'_>,
    log: Log,
    id: Uuid,
) -> sqlx::Result<Option<Sealed>> {
    let row: Option<SealedRow> = sqlx::query_as(
        "SELECT log_index, record_ts, record_id, leaf_hash FROM audit_log_index
          WHERE log = $1 AND record_id = $2",
    )
    .bind(number(log))
    .bind(id)
    .fetch_optional(database)
    .await?;
    row.map(Sealed::try_from).transpose()
}

/// The leaf hashes of those of these records that a log has.
pub(in crate::ledger) async fn leaf_hashes(
    database: impl PgExecutor<'_>,
    log: Log,
    ids: &[Uuid],
) -> sqlx::Result<HashMap<Uuid, Hash>> {
    let rows: Vec<(Uuid, Vec<u8>)> = sqlx::query_as(
        "SELECT record_id, leaf_hash FROM audit_log_index
          WHERE log = $1 AND record_id = ANY ($2)
            AND log_index < (SELECT size FROM audit_log_heads WHERE log = $1)",
    )
    .bind(number(log))
    .bind(ids)
    .fetch_all(database)
    .await?;
    rows.into_iter().map(|(id, leaf_hash)| Ok((id, hash(&leaf_hash)?))).collect()
}

/// The first sealed record from this position on.
pub(in crate::ledger) async fn first_sealed_from(
    connection: &mut PgConnection,
    log: Log,
    index: u64,
) -> sqlx::Result<Option<Sealed>> {
    let row: Option<SealedRow> = sqlx::query_as(
        "SELECT log_index, record_ts, record_id, leaf_hash FROM audit_log_index
          WHERE log = $1 AND log_index >= $2 ORDER BY log_index LIMIT 1",
    )
    .bind(number(log))
    .bind(signed_number(index))
    .fetch_optional(connection)
    .await?;
    row.map(Sealed::try_from).transpose()
}

/// The number of records after the newest sealed one, up to `limit`.
pub(in crate::ledger) async fn count_newer(
    database: impl PgExecutor<'_>,
    log: Log,
    limit: i64,
) -> sqlx::Result<u64> {
    let newer = match log {
        Log::Operations => {
            "SELECT FROM crypto_operations_audit WHERE ts > coalesce((SELECT record_ts FROM newest), '-infinity')"
        }
        Log::Management => {
            "SELECT FROM management_events
              WHERE id > coalesce((SELECT record_id FROM newest), '00000000-0000-0000-0000-000000000000')"
        }
    };
    let sql = format!(
        "WITH newest AS (SELECT record_ts, record_id
                           FROM audit_log_index i JOIN audit_log_heads h USING (log)
                          WHERE log = $1 AND log_index = h.size - 1)
         SELECT count(*) FROM ({newer} LIMIT $2) AS newer"
    );
    let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
        .bind(number(log))
        .bind(limit)
        .fetch_one(database)
        .await?;
    natural(count)
}

/// The starts of the days in the audit log of operations.
pub(in crate::ledger) async fn attached_days(
    database: impl PgExecutor<'_>,
) -> sqlx::Result<HashSet<Timestamp>> {
    let sql = "SELECT to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC'
                 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'crypto_operations_audit'::regclass";
    let days: Vec<Timestamp> = sqlx::query_scalar(sql).fetch_all(database).await?;
    Ok(days.into_iter().collect())
}

/// The start of the oldest day that retention must keep.
pub(in crate::ledger) async fn kept_from(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    let sql = "SELECT (date_trunc('day', now() AT TIME ZONE 'UTC')
                       - make_interval(days => minimum_days)) AT TIME ZONE 'UTC' FROM audit_retention";
    sqlx::query_scalar(sql).fetch_one(database).await
}
