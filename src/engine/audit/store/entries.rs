//! Queries of the audit log.

use std::time::Duration;

use sqlx::{PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::audit::entry::{Entry, EntryFilter};
use crate::db::{Pool, sql};
use crate::ids::RecordId;
use crate::segments::{Log, Placed, place_column};
use formats::clock::Timestamp;

/// The columns of an entry.
const COLUMNS: &str = "id, ts, request_id, application_id, api_key_id, operation_type, endpoint, \
     policy_number, key_id, payload_size_bytes, response_status, response_time_ms, error_code, \
     error_message, host(client_address) AS client_address, outcome, ctx, item, identity_id, \
     token_subject";

const PLACE: &str = place_column(Log::Operations);

/// The start of a query of entries with their positions.
const SELECT: [&str; 5] = ["SELECT ", COLUMNS, ", ", PLACE, " FROM crypto_operations_audit"];

/// The entry with this id, whose first half contains its time.
pub(in crate::audit) async fn entry(
    db: &Pool,
    id: RecordId,
) -> Result<Option<Placed<Entry>>, sqlx::Error> {
    sqlx::query_as(sql([
        "SELECT ",
        COLUMNS,
        ", ",
        PLACE,
        " FROM crypto_operations_audit WHERE ts = $1 AND id = $2",
    ]))
    .bind(id.created_at())
    .bind(id)
    .fetch_optional(db)
    .await
}

/// The entries with these times and ids that exist, without their positions.
pub(in crate::audit) async fn entries_named(
    connection: &mut PgConnection,
    names: &[(Timestamp, Uuid)],
) -> Result<Vec<Entry>, sqlx::Error> {
    let (moments, ids): (Vec<Timestamp>, Vec<Uuid>) = names.iter().copied().unzip();
    let last = moments.iter().max();
    // The first and the last time let Postgres skip whole partitions.
    sqlx::query_as(sql([
        "SELECT ",
        COLUMNS,
        " FROM crypto_operations_audit JOIN UNNEST($1::timestamptz[], $2::uuid[]) AS named (moment, record) \
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
pub(in crate::audit) async fn entries(
    db: &Pool,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<Placed<Entry>>, sqlx::Error> {
    let mut query = QueryBuilder::new(SELECT.concat());
    narrow(&mut query, filter, older_than, limit);
    // Planned each time, since frequent and rare values need different plans.
    query.build_query_as().persistent(false).fetch_all(db).await
}

/// The executed plan of [`entries`].
pub(in crate::audit) async fn plan(
    db: &Pool,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<String>, sqlx::Error> {
    let mut query = QueryBuilder::new("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ");
    query.push(SELECT.concat());
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
