//! The records that a log seals.

use std::collections::HashSet;

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::natural;
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

/// The `limit` records after `after`, in the order of an index. Only committed records are visible, so the order of
/// commits does not matter.
pub(in crate::ledger) async fn records_after(
    connection: &mut PgConnection,
    log: Log,
    after: RecordKey,
    limit: i64,
) -> sqlx::Result<Vec<RecordKey>> {
    let (sql, id) = match log {
        Log::Operations => (
            "SELECT ts, id FROM crypto_operations_audit
              WHERE ts >= $1 AND (ts, id) > ($1, $2) ORDER BY ts, id LIMIT $3",
            after.id,
        ),
        // Identifiers of events begin with their time.
        Log::Management => (
            "SELECT at, id FROM management_events
              WHERE id > $2 AND $1::timestamptz IS NOT NULL ORDER BY id LIMIT $3",
            after.first_id(),
        ),
    };
    let found = sqlx::query_as(sql).bind(after.ts).bind(id).bind(limit);
    let found: Vec<(Timestamp, Uuid)> = found.fetch_all(connection).await?;
    Ok(found.into_iter().map(|(ts, id)| RecordKey { ts, id }).collect())
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
