//! Management events in the database.

use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgExecutor};
use uuid::Uuid;

use super::{EventFilter, EventPerson, Recorded};
use crate::db::{Pool, sql};
use crate::ids::{ApiKeyId, ChangeId, EventId};
use crate::management::ResourceType;
use crate::segments::{Log, Placed, place_column};
use formats::clock::Timestamp;

/// The columns of an event.
const COLUMNS: &str = "id, at, api_key_id, person_issuer, person_subject, actor, action, resource_type,
                       resource_id, before, after, host(client_address) AS client_address, request_id,
                       change_id, approved_by";

const PLACE: &str = place_column(Log::Management);

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    id: EventId,
) -> sqlx::Result<Option<Placed<Recorded>>> {
    let query = sql(["SELECT ", COLUMNS, ", ", PLACE, " FROM management_events WHERE id = $1"]);
    sqlx::query_as(query).bind(id).fetch_optional(database).await
}

/// An event as it was written, without its position.
pub(super) async fn written(database: impl PgExecutor<'_>, id: EventId) -> sqlx::Result<Recorded> {
    let query = sql(["SELECT ", COLUMNS, " FROM management_events WHERE id = $1"]);
    sqlx::query_as(query).bind(id).fetch_one(database).await
}

pub(super) async fn named(
    database: impl PgExecutor<'_>,
    ids: &[Uuid],
) -> sqlx::Result<Vec<Placed<Recorded>>> {
    let query =
        sql(["SELECT ", COLUMNS, ", ", PLACE, " FROM management_events WHERE id = ANY($1)"]);
    sqlx::query_as(query).bind(ids).fetch_all(database).await
}

pub(super) async fn list(
    database: &Pool,
    filter: &EventFilter,
    older_than: Option<Uuid>,
    limit: i64,
) -> sqlx::Result<Vec<Placed<Recorded>>> {
    let (pool, filter) = (database.clone(), filter.clone());
    let reading = async move {
        let events = sqlx::query_as(sql([
            "SELECT ",
            COLUMNS,
            ", ",
            PLACE,
            " FROM management_events WHERE ($1::uuid IS NULL OR id < $1)
                AND ($2::text IS NULL OR request_id = $2)
                AND ($3::uuid IS NULL OR api_key_id = $3)
                AND ($4::text IS NULL OR action = $4)
                AND ($5::text IS NULL OR resource_type = $5)
                AND ($6::uuid IS NULL OR resource_id = $6)
                AND ($7::timestamptz IS NULL OR at >= $7)
                AND ($8::timestamptz IS NULL OR at < $8)
              ORDER BY id DESC
              LIMIT $9",
        ]))
        .bind(older_than)
        .bind(filter.request_id.as_deref())
        .bind(filter.api_key_id)
        .bind(filter.action)
        .bind(filter.resource_type)
        .bind(filter.resource_id.as_ref().map(|id| id.uuid))
        .bind(filter.from)
        .bind(filter.to)
        .bind(limit)
        .fetch_all(&pool);
        events.await
    };
    database.read_slowly(reading).await
}

#[derive(FromRow)]
struct EventRow {
    id: EventId,
    at: Timestamp,
    api_key_id: Option<ApiKeyId>,
    person_issuer: Option<String>,
    person_subject: Option<String>,
    actor: String,
    action: String,
    resource_type: String,
    resource_id: Option<Uuid>,
    before: Option<Json<Value>>,
    after: Option<Json<Value>>,
    client_address: Option<String>,
    request_id: Option<String>,
    change_id: Option<ChangeId>,
    approved_by: Option<Vec<String>>,
}

impl FromRow<'_, PgRow> for Recorded {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        EventRow::from_row(row).map(Self::from)
    }
}

impl From<EventRow> for Recorded {
    fn from(row: EventRow) -> Self {
        Self {
            id: row.id,
            timestamp: row.at,
            api_key_id: row.api_key_id,
            person: row
                .person_issuer
                .zip(row.person_subject)
                .map(|(iss, sub)| EventPerson { iss, sub }),
            actor: row.actor,
            action: row.action,
            resource_id: row.resource_id.and_then(|id| resource_id(&row.resource_type, id)),
            resource_type: row.resource_type,
            before: row.before.map(|Json(state)| state),
            after: row.after.map(|Json(state)| state),
            client_address: row.client_address.and_then(|text| text.parse().ok()),
            request_id: row.request_id,
            change_id: row.change_id,
            approved_by: row.approved_by,
            log_index: None,
            changed: false,
        }
    }
}

/// The identifier of a resource of this type; of a type that a later release adds, the UUID alone.
fn resource_id(resource_type: &str, id: Uuid) -> Option<String> {
    match resource_type.parse::<ResourceType>() {
        Ok(known) => known.id(id),
        Err(_) => Some(id.to_string()),
    }
}
