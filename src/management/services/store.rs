//! Services in the database.

use sqlx::{FromRow, PgConnection, PgExecutor};

use super::{Filter, Service};
use crate::auth::{Tier, store::rate_limit};
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, KeyId, PolicyId, ServiceId};
use crate::management::{PageRequest, Revision};

pub(super) async fn list(
    database: impl PgExecutor<'_>,
    filter: &Filter,
    page: PageRequest,
) -> sqlx::Result<Vec<Service>> {
    let rows: Vec<ServiceRow> = sqlx::query_as(
        "SELECT * FROM services
          WHERE deleted_at IS NULL
            AND ($1::uuid IS NULL OR id > $1)
            AND ($2::text IS NULL OR position(lower($2) IN lower(name)) > 0)
          ORDER BY id
          LIMIT $3",
    )
    .bind(page.after())
    .bind(filter.name.as_deref())
    .bind(page.rows())
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().map(Service::from).collect())
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    id: ServiceId,
) -> sqlx::Result<Option<Service>> {
    let row: Option<ServiceRow> =
        sqlx::query_as("SELECT * FROM services WHERE id = $1 AND deleted_at IS NULL")
            .bind(id)
            .fetch_optional(database)
            .await?;
    Ok(row.map(Service::from))
}

pub(super) async fn names(
    database: impl PgExecutor<'_>,
    ids: &[ServiceId],
) -> sqlx::Result<Vec<(ServiceId, String)>> {
    sqlx::query_as("SELECT id, name FROM services WHERE id = ANY ($1)")
        .bind(ids)
        .fetch_all(database)
        .await
}

pub(super) async fn choices(
    database: impl PgExecutor<'_>,
) -> sqlx::Result<Vec<(ServiceId, String)>> {
    sqlx::query_as(
        "SELECT id, name FROM services WHERE deleted_at IS NULL ORDER BY lower(name), id",
    )
    .fetch_all(database)
    .await
}

/// Reads a service and keeps all others from changing or newly referring to it.
pub(super) async fn lock(
    connection: &mut PgConnection,
    id: ServiceId,
) -> sqlx::Result<Option<Service>> {
    let row: Option<ServiceRow> =
        sqlx::query_as("SELECT * FROM services WHERE id = $1 AND deleted_at IS NULL FOR UPDATE")
            .bind(id)
            .fetch_optional(connection)
            .await?;
    Ok(row.map(Service::from))
}

/// Those of `ids` that live; they go on living until the transaction ends, so they can be referred
/// to. (A foreign key would be content with a tombstone.)
pub(in crate::management) async fn lock_living(
    connection: &mut PgConnection,
    ids: &[ServiceId],
) -> sqlx::Result<Vec<ServiceId>> {
    sqlx::query_scalar(
        "SELECT id FROM services WHERE id = ANY ($1) AND deleted_at IS NULL ORDER BY id FOR SHARE",
    )
    .bind(ids)
    .fetch_all(connection)
    .await
}

pub(super) async fn insert(connection: &mut PgConnection, service: &Service) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO services (id, name, description, tier, requests_per_second, burst,
                               publish_keys, revision, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(service.id)
    .bind(&service.name)
    .bind(&service.description)
    .bind(service.tier)
    .bind(
        service
            .agreed()
            .map(|limit| i64::from(limit.requests_per_second.get())),
    )
    .bind(service.agreed().map(|limit| i64::from(limit.burst.get())))
    .bind(service.publish_keys)
    .bind(service.revision)
    .bind(service.created_at)
    .bind(service.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn update(connection: &mut PgConnection, service: &Service) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE services
            SET name = $2, description = $3, tier = $4, requests_per_second = $5, burst = $6,
                publish_keys = $7, revision = $8, updated_at = $9
          WHERE id = $1",
    )
    .bind(service.id)
    .bind(&service.name)
    .bind(&service.description)
    .bind(service.tier)
    .bind(
        service
            .agreed()
            .map(|limit| i64::from(limit.requests_per_second.get())),
    )
    .bind(service.agreed().map(|limit| i64::from(limit.burst.get())))
    .bind(service.publish_keys)
    .bind(service.revision)
    .bind(service.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

/// What living things refer to a service, each as people know it.
pub(super) async fn referrers(
    connection: &mut PgConnection,
    id: ServiceId,
) -> sqlx::Result<Vec<String>> {
    let policies: Vec<(PolicyId, String)> = sqlx::query_as(
        "SELECT id, policy_number FROM policies
          WHERE deleted_at IS NULL
            AND (destination_service_id = $1 OR $1 = ANY (allowed_service_ids))
          ORDER BY id",
    )
    .bind(id)
    .fetch_all(&mut *connection)
    .await?;
    let api_keys: Vec<(ApiKeyId, String)> = sqlx::query_as(
        "SELECT id, name FROM api_keys WHERE service_id = $1 AND revoked_at IS NULL ORDER BY id",
    )
    .bind(id)
    .fetch_all(&mut *connection)
    .await?;
    let keys: Vec<(KeyId, String)> = sqlx::query_as(
        "SELECT id, name FROM keys WHERE service_id = $1 AND status <> 'destroyed' ORDER BY id",
    )
    .bind(id)
    .fetch_all(&mut *connection)
    .await?;
    let policies = policies
        .into_iter()
        .map(|(id, number)| format!("policy {number} ({id})"));
    let api_keys = api_keys
        .into_iter()
        .map(|(id, name)| format!("API key {name:?} ({id})"));
    let keys = keys
        .into_iter()
        .map(|(id, name)| format!("key {name:?} ({id})"));
    Ok(policies.chain(api_keys).chain(keys).collect())
}

pub(super) async fn bury(
    connection: &mut PgConnection,
    id: ServiceId,
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query("UPDATE services SET deleted_at = $2, revision = revision + 1 WHERE id = $1")
        .bind(id)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}

#[derive(FromRow)]
struct ServiceRow {
    id: ServiceId,
    name: String,
    description: Option<String>,
    tier: Tier,
    requests_per_second: Option<i32>,
    burst: Option<i32>,
    publish_keys: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    revision: Revision,
}

impl From<ServiceRow> for Service {
    fn from(row: ServiceRow) -> Self {
        let agreed = rate_limit(row.requests_per_second, row.burst);
        Self {
            id: row.id,
            name: row.name,
            description: row.description,
            tier: row.tier,
            rate_limit: row.tier.rate_limit_with(agreed),
            publish_keys: row.publish_keys,
            created_at: row.created_at,
            updated_at: row.updated_at,
            revision: row.revision,
        }
    }
}
