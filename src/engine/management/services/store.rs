//! Services in the database.

use sqlx::{PgConnection, PgExecutor};

use super::{Service, ServiceFilter};
use crate::ids::{ApiKeyId, IdentityId, KeyId, PolicyId, ServiceId};
use crate::keys;
use crate::management::{PageRequest, Referrers};
use crate::resource::{Rows, select};

pub(super) async fn list(
    rows: Rows<impl PgExecutor<'_>>,
    filter: &ServiceFilter,
    page: PageRequest,
) -> sqlx::Result<Vec<Service>> {
    select(
        "WHERE deleted_at IS NULL
            AND ($1::uuid IS NULL OR id > $1)
            AND ($2::text IS NULL OR name = $2)
            AND ($3::text IS NULL OR position(lower($3) IN lower(name)) > 0)
            AND ($4::text IS NULL OR $4 = CASE WHEN EXISTS (
                    SELECT FROM revisions r
                     WHERE r.table_name = 'services' AND r.id = services.id
                       AND r.revision > services.revision AND r.what = 'frozen')
                THEN 'frozen' ELSE status END)
          ORDER BY id
          LIMIT $5",
    )
    .bind(page.after())
    .bind(filter.name.as_deref())
    .bind(filter.name_contains.as_deref())
    .bind(filter.status)
    .bind(page.rows())
    .fetch_listed(rows)
    .await
}

pub(super) async fn read(
    rows: Rows<impl PgExecutor<'_>>,
    id: ServiceId,
) -> sqlx::Result<Option<Service>> {
    select("WHERE id = $1 AND deleted_at IS NULL").bind(id).fetch_optional(rows).await
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

/// Reads and locks a service, so that no other transaction changes it or begins to refer to it.
pub(super) async fn lock(
    rows: Rows<&mut PgConnection>,
    id: ServiceId,
) -> sqlx::Result<Option<Service>> {
    select("WHERE id = $1 AND deleted_at IS NULL").bind(id).lock(rows).await
}

/// The services among `ids` that are not deleted. They cannot be deleted until the transaction ends,
/// so a row can refer to them. (A foreign key accepts a tombstone.)
pub(super) async fn lock_living(
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

/// The way to remove a service from a deleted policy.
const OF_DELETED_POLICY: &str = "a deleted policy still decides about its envelopes. Restore it, remove the \
                                 service from its allowedServiceIds, and delete it again";

/// The resources that refer to a service, by their names. A deleted policy refers to the services that it
/// allows by name, because it goes on deciding.
pub(super) async fn referrers(
    connection: &mut PgConnection,
    id: ServiceId,
) -> sqlx::Result<Referrers> {
    let policies: Vec<(PolicyId, String, bool)> = sqlx::query_as(
        "SELECT id, policy_number, deleted_at IS NOT NULL FROM policies
          WHERE $1 = ANY (allowed_service_ids)
             OR (destination_service_id = $1 AND deleted_at IS NULL)
          ORDER BY deleted_at IS NOT NULL, id",
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
    let identities: Vec<(IdentityId, String)> = sqlx::query_as(
        "SELECT id, name FROM identities WHERE service_id = $1 AND deleted_at IS NULL ORDER BY id",
    )
    .bind(id)
    .fetch_all(&mut *connection)
    .await?;
    let keys: Vec<(KeyId, String)> = sqlx::query_as(
        "SELECT id, name FROM keys WHERE service_id = $1 AND status <> $2 ORDER BY id",
    )
    .bind(id)
    .bind(keys::KeyStatus::Destroyed)
    .fetch_all(&mut *connection)
    .await?;
    let advice = policies.iter().any(|(.., is_deleted)| *is_deleted).then_some(OF_DELETED_POLICY);
    let policies = policies.into_iter().map(|(id, number, is_deleted)| match is_deleted {
        true => format!("deleted policy {number} ({id})"),
        false => format!("policy {number} ({id})"),
    });
    let api_keys = api_keys.into_iter().map(|(id, name)| format!("API key {name:?} ({id})"));
    let identities = identities.into_iter().map(|(id, name)| format!("identity {name:?} ({id})"));
    let keys = keys.into_iter().map(|(id, name)| format!("key {name:?} ({id})"));
    let names = policies.chain(api_keys).chain(identities).chain(keys).collect();
    Ok(Referrers { names, advice })
}
