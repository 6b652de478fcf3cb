//! The records of the audit writer.

use std::collections::HashSet;
use std::sync::LazyLock;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Row as _};
use uuid::Uuid;

use super::NotWritten;
use crate::audit::queue::{QueuedRecord, Submission, count};
use crate::audit::record::{Endpoint, OperationType};
use crate::audit::record_leaf::hash;
use crate::db::sql;
use crate::seals::RowKey;
use crate::segments::{self, Leaf, Log, SegmentRows};

const INSERT: &str = "INSERT INTO crypto_operations_audit (id, ts, request_id, application_id, api_key_id, \
     operation_type, endpoint, policy_number, key_id, payload_size_bytes, response_status, \
     response_time_ms, error_code, error_message, client_address, outcome, ctx, item, identity_id, \
     token_subject) \
     SELECT * FROM UNNEST($1::uuid[], $2::timestamptz[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], \
     $7::text[], $8::text[], $9::uuid[], $10::int8[], $11::int2[], $12::float4[], $13::text[], \
     $14::text[], $15::text[]::inet[], $16::text[], $17::text[], $18::int2[], $19::uuid[], $20::text[])";

/// The same with segments: a commit shows both or none of them.
static INSERT_WITH_SEGMENTS: LazyLock<String> =
    LazyLock::new(|| format!("WITH records AS ({INSERT}) {}", segments::insertion(21)));

/// Writes all records or none, with their segments if there is a row key. Returns whether the key still seals.
pub(in crate::audit) async fn insert(
    connection: &mut PgConnection,
    submissions: &[Submission],
    key: Option<&RowKey>,
) -> Result<bool, NotWritten> {
    let Some(key) = key else {
        bound(sqlx::query(INSERT), submissions).execute(connection).await?;
        return Ok(true);
    };
    let rows = segments_of(submissions, key, |_| true);
    let query = sqlx::query(AssertSqlSafe(INSERT_WITH_SEGMENTS.as_str()));
    let inserted = rows.bound(bound(query, submissions)).execute(connection).await?;
    Ok(inserted.rows_affected() > 0)
}

/// The same after an attempt with an unknown outcome: existing records stay as they are, in the segment of the
/// transaction that wrote them.
pub(in crate::audit) async fn insert_again(
    connection: &mut PgConnection,
    submissions: &[Submission],
    key: Option<&RowKey>,
) -> Result<bool, NotWritten> {
    let mut transaction = connection.begin().await?;
    let query = sqlx::query(sql([INSERT, " ON CONFLICT DO NOTHING RETURNING id"]));
    let written = bound(query, submissions).fetch_all(&mut *transaction).await?;
    let written = written.iter().map(|row| row.try_get(0));
    let written = written.collect::<sqlx::Result<HashSet<Uuid>>>()?;
    let is_current = match key {
        Some(key) if !written.is_empty() => {
            let rows = segments_of(submissions, key, |id| written.contains(&id));
            segments::insert(&mut *transaction, rows).await?
        }
        Some(_) | None => true,
    };
    // A transaction that inserts nothing does not wait until a standby has the former attempt.
    let message = "SELECT pg_logical_emit_message(true, 'sealward', '')";
    sqlx::raw_sql(message).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(is_current)
}

/// The segments of the records that are `written`.
fn segments_of(
    submissions: &[Submission],
    key: &RowKey,
    written: impl Fn(Uuid) -> bool,
) -> SegmentRows {
    let mut leaves: Vec<Leaf> = Vec::with_capacity(count(submissions));
    let mut text = Vec::new();
    for queued in submissions.iter().flat_map(Submission::records) {
        if written(queued.id.uuid()) {
            leaves.push((queued.id.uuid(), hash(queued, &mut text)));
        }
    }
    let segments = segments::segments(Log::Operations, leaves, key, |last| last);
    SegmentRows::new(Log::Operations, segments, key)
}

/// The query with the parameters of the records.
fn bound<'q>(
    query: Query<'q, Postgres, PgArguments>,
    submissions: &[Submission],
) -> Query<'q, Postgres, PgArguments> {
    let addresses = column(submissions, |it| it.record.client_address.map(|it| it.to_string()));
    query
        .bind(column(submissions, |it| it.id))
        .bind(column(submissions, |it| it.ts))
        .bind(column(submissions, |it| &*it.record.request_id))
        .bind(column(submissions, |it| it.record.service_id))
        .bind(column(submissions, |it| it.record.credential_id?.api_key()))
        .bind(column(submissions, |it| it.record.operation_type.map(OperationType::name)))
        .bind(column(submissions, |it| it.record.endpoint.map(Endpoint::name)))
        .bind(column(submissions, |it| it.record.policy_number.as_deref()))
        .bind(column(submissions, |it| it.record.key_id))
        .bind(column(submissions, QueuedRecord::payload_size))
        .bind(column(submissions, QueuedRecord::status))
        .bind(column(submissions, QueuedRecord::milliseconds))
        .bind(column(submissions, |it| it.record.error_code))
        .bind(column(submissions, |it| it.record.error_message.as_deref()))
        .bind(addresses)
        .bind(column(submissions, |it| it.record.outcome.name()))
        .bind(column(submissions, |it| it.record.ctx.map(|ctx| ctx.to_string())))
        .bind(column(submissions, QueuedRecord::item))
        .bind(column(submissions, |it| it.record.credential_id?.identity()))
        .bind(column(submissions, |it| it.record.token_subject.as_deref()))
}

/// One value of each record.
fn column<'a, T>(submissions: &'a [Submission], of: impl Fn(&'a QueuedRecord) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(count(submissions));
    for submission in submissions {
        values.extend(submission.records().iter().map(&of));
    }
    values
}
