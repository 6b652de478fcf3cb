//! The audit log in Postgres.

use std::time::Duration;

use sqlx::{PgConnection, Postgres, QueryBuilder, SqlSafeStr as _};
use uuid::Uuid;

use super::entry::{Entry, EntryFilter};
use super::queue::{QueuedRecord, Submission, count};
use super::record::{Endpoint, OperationType};
use crate::db::{self, Pool, sql};
use crate::ids::RecordId;
use formats::clock::Timestamp;

/// Why records were not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotWritten {
    /// There is no partition for their day.
    #[error("there is no partition for this day")]
    NoDay,
    /// The database refuses the data; nothing was written.
    #[error("{0}")]
    Data(sqlx::Error),
    /// The database did not answer: it is unknown whether the records were written.
    #[error("{0}")]
    Away(sqlx::Error),
}

impl From<sqlx::Error> for NotWritten {
    fn from(error: sqlx::Error) -> Self {
        let refusal = error.as_database_error();
        let code = refusal.and_then(|refusal| refusal.code());
        let constraint = refusal.and_then(|refusal| refusal.constraint());
        match code.as_deref() {
            Some("23514") if constraint.is_none() => Self::NoDay,
            Some(code) if code.starts_with("22") || code.starts_with("23") => Self::Data(error),
            Some(_) => Self::Away(error),
            None if matches!(error, sqlx::Error::Encode(_)) => Self::Data(error),
            None => Self::Away(error),
        }
    }
}

/// Why the maintenance of the daily partitions failed.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// It took too long.
    #[error("timed out")]
    Late,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The failure of a database that does not answer in time.
pub(super) fn late() -> NotWritten {
    let silence = std::io::Error::new(std::io::ErrorKind::TimedOut, "the reply timed out");
    NotWritten::Away(sqlx::Error::Io(silence))
}

const INSERT: &str = "INSERT INTO crypto_operations_audit (id, ts, request_id, application_id, api_key_id, \
     operation_type, endpoint, policy_number, key_id, payload_size_bytes, response_status, \
     response_time_ms, error_code, error_message, client_address, outcome, ctx, item, identity_id, \
     token_subject) \
     SELECT * FROM UNNEST($1::uuid[], $2::timestamptz[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], \
     $7::text[], $8::text[], $9::uuid[], $10::int8[], $11::int2[], $12::float4[], $13::text[], \
     $14::text[], $15::text[]::inet[], $16::text[], $17::text[], $18::int2[], $19::uuid[], $20::text[])";

/// Writes all records or none, in one statement. `again` after an attempt with an unknown outcome:
/// existing records stay as they are.
pub(super) async fn insert(
    connection: &mut PgConnection,
    submissions: &[Submission],
    again: bool,
) -> Result<(), NotWritten> {
    let statement = if again {
        sql([INSERT, " ON CONFLICT DO NOTHING"]).into_sql_str()
    } else {
        INSERT.into_sql_str()
    };
    let addresses = column(submissions, |it| it.record.client_address.map(|it| it.to_string()));
    sqlx::query(statement)
        .bind(column(submissions, |it| it.id))
        .bind(column(submissions, |it| it.ts))
        .bind(column(submissions, |it| &*it.record.request_id))
        .bind(column(submissions, |it| it.record.service_id))
        .bind(column(submissions, |it| it.record.credential_id?.api_key()))
        .bind(column(submissions, |it| it.record.operation_type.map(OperationType::name)))
        .bind(column(submissions, |it| it.record.endpoint.map(Endpoint::name)))
        .bind(column(submissions, |it| it.record.policy_number.as_deref()))
        .bind(column(submissions, |it| it.record.key_id))
        .bind(column(submissions, |it| {
            i64::try_from(it.record.payload_size_bytes).unwrap_or(i64::MAX)
        }))
        .bind(column(submissions, |it| {
            i16::try_from(it.record.response_status).unwrap_or(i16::MAX)
        }))
        .bind(column(submissions, |it| it.took.as_secs_f32() * 1_000.0))
        .bind(column(submissions, |it| it.record.error_code))
        .bind(column(submissions, |it| it.record.error_message.as_deref()))
        .bind(addresses)
        .bind(column(submissions, |it| it.record.outcome.name()))
        .bind(column(submissions, |it| it.record.ctx.map(|ctx| ctx.to_string())))
        .bind(column(submissions, |it| it.record.item.and_then(|item| i16::try_from(item).ok())))
        .bind(column(submissions, |it| it.record.credential_id?.identity()))
        .bind(column(submissions, |it| it.record.token_subject.as_deref()))
        .execute(&mut *connection)
        .await?;
    if again {
        // A statement that inserts nothing does not wait until a standby has the former attempt.
        let written = "SELECT pg_logical_emit_message(true, 'sealward', '')";
        sqlx::query(written).execute(connection).await?;
    }
    Ok(())
}

/// One value of each record.
fn column<'a, T>(submissions: &'a [Submission], of: impl Fn(&'a QueuedRecord) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(count(submissions));
    for submission in submissions {
        values.extend(submission.records().iter().map(&of));
    }
    values
}

/// Whether the database accepts writes: a standby does not.
pub(super) async fn writable(connection: &mut PgConnection) -> Result<(), NotWritten> {
    if !db::takes_writes(connection).await? {
        let standby = std::io::Error::other("the database is read-only");
        return Err(NotWritten::Away(sqlx::Error::Io(standby)));
    }
    Ok(())
}

/// Creates the missing partitions for the days of these times.
pub(super) async fn make_days(
    connection: &mut PgConnection,
    moments: impl Iterator<Item = Timestamp>,
) -> Result<(), sqlx::Error> {
    let moments: Vec<_> = moments.collect();
    sqlx::query(
        "SELECT make_audit_day(day) FROM \
         (SELECT DISTINCT (ts AT TIME ZONE 'UTC')::date AS day FROM UNNEST($1::timestamptz[]) AS ts) \
         AS days",
    )
    .bind(moments)
    .execute(connection)
    .await?;
    Ok(())
}

/// Creating an index takes longer than statements usually may.
pub(super) async fn allow_long_statements(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SET statement_timeout = 0").execute(connection).await?;
    Ok(())
}

/// Creates the query indexes of the oldest day before `moment` that lacks them.
pub(super) async fn close_day(
    connection: &mut PgConnection,
    moment: Timestamp,
) -> sqlx::Result<Option<String>> {
    let sql = "SELECT close_audit_day(($1::timestamptz AT TIME ZONE 'UTC')::date)::text";
    let closed = sqlx::query_scalar(sql).bind(moment);
    closed.fetch_one(connection).await
}

/// The start of a query of entries.
const SELECT: &str = "SELECT id, ts, request_id, application_id, api_key_id, operation_type, endpoint, \
     policy_number, key_id, payload_size_bytes, response_status, response_time_ms, error_code, \
     error_message, host(client_address) AS client_address, outcome, ctx, item, identity_id, \
     token_subject, (SELECT log_index FROM audit_log_index WHERE record_id = id \
                          AND record_ts = date_trunc('milliseconds', ts) AND log = 1) AS log_index \
     FROM crypto_operations_audit";

/// The entry with this id, whose first half contains its time.
pub(super) async fn entry(db: &Pool, id: RecordId) -> Result<Option<Entry>, sqlx::Error> {
    sqlx::query_as(sql([SELECT, " WHERE ts = $1 AND id = $2"]))
        .bind(id.created_at())
        .bind(id)
        .fetch_optional(db)
        .await
}

/// The entries with these times and ids that exist.
pub(super) async fn entries_named(
    connection: &mut PgConnection,
    names: &[(Timestamp, Uuid)],
) -> Result<Vec<Entry>, sqlx::Error> {
    let (moments, ids): (Vec<Timestamp>, Vec<Uuid>) = names.iter().copied().unzip();
    let last = moments.iter().max();
    // The first and the last time let Postgres skip whole partitions.
    sqlx::query_as(sql([
        SELECT,
        " JOIN UNNEST($1::timestamptz[], $2::uuid[]) AS named (moment, record) \
         ON id = record AND ts >= moment AND ts < moment + interval '1 millisecond' \
         WHERE ts >= $3 AND ts < $4",
    ]))
    .bind(&moments)
    .bind(ids)
    .bind(moments.iter().min())
    .bind(last.map(|last| last.plus(Duration::from_millis(1))))
    .fetch_all(connection)
    .await
}

/// The newest entries that match the filter, at most `limit`, older than `older_than`.
pub(super) async fn entries(
    db: &Pool,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<Entry>, sqlx::Error> {
    let mut query = QueryBuilder::new(SELECT);
    narrow(&mut query, filter, older_than, limit);
    // Planned each time, since frequent and rare values need different plans.
    query.build_query_as().persistent(false).fetch_all(db).await
}

/// The executed plan of [`entries`].
pub(super) async fn plan(
    db: &Pool,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<String>, sqlx::Error> {
    let mut query = QueryBuilder::new(["EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ", SELECT].concat());
    narrow(&mut query, filter, older_than, limit);
    query.build_query_scalar().fetch_all(db).await
}

fn narrow(
    query: &mut QueryBuilder<Postgres>,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) {
    query.push(" WHERE true");
    if let Some(id) = filter.request_id.clone() {
        query.push(" AND request_id = ").push_bind(id);
    }
    if let Some(id) = filter.service_id {
        query.push(" AND application_id = ").push_bind(id);
    }
    if let Some(operation) = filter.operation_type {
        query.push(" AND operation_type = ").push_bind(operation.name());
    }
    if let Some(status) = filter.status {
        query.push(" AND response_status = ").push_bind(status);
    }
    if let Some(outcome) = filter.outcome {
        query.push(" AND outcome = ").push_bind(outcome.name());
    }
    if let Some(number) = filter.policy_number.clone() {
        query.push(" AND policy_number = ").push_bind(number);
    }
    if let Some(id) = filter.key_id {
        query.push(" AND key_id = ").push_bind(id);
    }
    if let Some(id) = filter.identity_id {
        query.push(" AND identity_id = ").push_bind(id);
    }
    if let Some(subject) = filter.token_subject.clone() {
        query.push(" AND token_subject = ").push_bind(subject);
    }
    if let Some(from) = filter.from {
        query.push(" AND ts >= ").push_bind(from);
    }
    if let Some(to) = filter.to {
        query.push(" AND ts < ").push_bind(to);
    }
    if let Some(id) = older_than {
        // This condition alone lets Postgres skip whole partitions.
        query.push(" AND ts <= ").push_bind(id.created_at());
        query.push(" AND (ts, id) < (").push_bind(id.created_at());
        query.push(", ").push_bind(id).push(")");
    }
    query.push(" ORDER BY ts DESC, id DESC LIMIT ").push_bind(limit);
}
