//! The records that a log seals.

use std::collections::HashSet;

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{natural, signed_number};
use crate::db::sql;
use crate::ids::time_of;
use crate::ledger::Log;
use formats::clock::Timestamp;

/// What identifies a record in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ledger) struct RecordKey {
    pub(in crate::ledger) ts: Timestamp,
    pub(in crate::ledger) id: Uuid,
}

impl RecordKey {
    /// The key of a record, whose identifier begins with its time.
    pub(in crate::ledger) fn of(id: Uuid) -> Self {
        Self { ts: time_of(id), id }
    }

    /// The first identifier of the time of this key, unless the key names a record.
    pub(in crate::ledger) fn first_id(self) -> Uuid {
        let millis = u128::try_from(self.ts.as_millis()).unwrap_or_default();
        if self.id.is_nil() { Uuid::from_u128(millis << 80) } else { self.id }
    }
}

/// The records after the key in `$1` and `$2`, in the order of an index, which is also that of identifiers.
const fn after_key(log: Log) -> &'static str {
    match log {
        Log::Operations => {
            "SELECT ts, id FROM crypto_operations_audit WHERE ts >= $1 AND (ts, id) > ($1, $2) ORDER BY ts, id"
        }
        // Identifiers of events begin with their time.
        Log::Management => {
            "SELECT at AS ts, id FROM management_events WHERE id > $2 AND $1::timestamptz IS NOT NULL ORDER BY id"
        }
    }
}

/// The identifier of [`after_key`].
fn id_after(log: Log, after: RecordKey) -> Uuid {
    match log {
        Log::Operations => after.id,
        Log::Management => after.first_id(),
    }
}

/// The `limit` records after `after`, in the order of an index. Only committed records are visible, so the order of
/// commits does not matter.
pub(in crate::ledger) async fn records_after(
    connection: &mut PgConnection,
    log: Log,
    after: RecordKey,
    limit: i64,
) -> sqlx::Result<Vec<RecordKey>> {
    let found = sqlx::query_as(sql([after_key(log), " LIMIT $3"]));
    let found = found.bind(after.ts).bind(id_after(log, after)).bind(limit);
    let found: Vec<(Timestamp, Uuid)> = found.fetch_all(connection).await?;
    Ok(found.into_iter().map(|(ts, id)| RecordKey { ts, id }).collect())
}

/// A part of the records in the order of an index.
#[derive(Debug, Default)]
pub(in crate::ledger) struct RecordSlice {
    /// The records that are in no segment with a position.
    pub(in crate::ledger) unsealed: Vec<RecordKey>,
    /// The last record of the part. None if there are no more records after the part.
    pub(in crate::ledger) end: Option<RecordKey>,
}

/// The `limit` records after `after`, of a log with `size` records. `foreign` segments do not count. Nearly all records
/// are sealed, so Postgres compares them with the segments.
pub(in crate::ledger) async fn record_slice(
    connection: &mut PgConnection,
    (log, size): (Log, u64),
    foreign: &HashSet<Uuid>,
    after: RecordKey,
    limit: i64,
) -> sqlx::Result<RecordSlice> {
    let first = after.first_id();
    let foreign: Vec<Uuid> = foreign.iter().copied().filter(|id| *id >= first).collect();
    let found: Vec<(bool, Timestamp, Uuid)> = sqlx::query_as(sql([
        "WITH part AS MATERIALIZED (",
        after_key(log),
        " LIMIT $3),
              last AS MATERIALIZED (SELECT ts, id FROM part ORDER BY id OFFSET $3 - 1 LIMIT 1)
         SELECT true, ts, id FROM last
          UNION ALL
         SELECT false, ts, id
           FROM (SELECT id FROM part EXCEPT SELECT unnest(s.ids) FROM audit_log_segments s
                  WHERE s.log = $4 AND s.id >= $5
                    AND s.id <= audit_segment_bound(coalesce(
                            (SELECT id FROM last), 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
                    AND s.id <> ALL ($6) AND (SELECT p.base FROM audit_log_positions p
                                               WHERE p.log = s.log AND p.segment = s.id) < $7) AS unsealed
           JOIN part USING (id)",
    ]))
    .bind(after.ts)
    .bind(id_after(log, after))
    .bind(limit)
    .bind(log.number())
    .bind(first)
    .bind(foreign)
    .bind(signed_number(size))
    .fetch_all(connection)
    .await?;
    let mut slice = RecordSlice::default();
    for (is_end, ts, id) in found {
        let key = RecordKey { ts, id };
        if is_end { slice.end = Some(key) } else { slice.unsealed.push(key) }
    }
    slice.unsealed.sort_unstable();
    Ok(slice)
}

/// The number of records after the newest sealed one, up to `limit`. A segment that is later than `latest` does not
/// count as the newest one: the login of the service can add a record of the future. The order makes Postgres use the
/// index, whose selectivity it does not know.
pub(in crate::ledger) async fn count_newer(
    database: impl PgExecutor<'_>,
    log: Log,
    latest: Timestamp,
    limit: i64,
) -> sqlx::Result<u64> {
    let sql = match log {
        Log::Operations => {
            "SELECT count(*) FROM (
                 SELECT FROM crypto_operations_audit WHERE ts > least($3, coalesce(
                     (SELECT audit_id_time(segment) FROM audit_log_positions WHERE log = $1 AND base < (
                          SELECT size FROM audit_log_heads WHERE log = $1) ORDER BY base DESC LIMIT 1), '-infinity'))
                  ORDER BY ts LIMIT $2) AS newer"
        }
        Log::Management => {
            "SELECT count(*) FROM (
                 SELECT FROM management_events WHERE id > least($3, coalesce(
                     (SELECT segment FROM audit_log_positions WHERE log = $1 AND base < (
                          SELECT size FROM audit_log_heads WHERE log = $1) ORDER BY base DESC LIMIT 1),
                     '00000000-0000-0000-0000-000000000000'))
                  ORDER BY id LIMIT $2) AS newer"
        }
    };
    let count = sqlx::query_scalar(sql).bind(log.number()).bind(limit);
    let count = match log {
        Log::Operations => count.bind(latest),
        Log::Management => count.bind(RecordKey { ts: latest, id: Uuid::nil() }.first_id()),
    };
    natural(count.fetch_one(database).await?)
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
