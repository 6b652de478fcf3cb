//! Warnings in the database.

use sqlx::PgExecutor;

use super::{Expiring, Extractable, Keyless};
use crate::auth::Service;
use crate::ids::{ApiKeyId, KeyId};
use crate::keys::{self, Usage};
use crate::policy::{KeyOwnership, Policy, PolicyStatus};
use crate::resource::{Rows, select};
use formats::clock::Timestamp;
use formats::envelope::Alg;

/// The services that are frozen by their row or by an entry.
pub(super) async fn possibly_frozen(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Service>> {
    select(
        "WHERE deleted_at IS NULL AND (status = 'frozen' OR EXISTS (
             SELECT FROM revisions r
              WHERE r.table_name = 'services' AND r.id = services.id
                AND r.revision > services.revision))
          ORDER BY lower(name), id
          LIMIT 50",
    )
    .fetch_all(rows)
    .await
}

pub(super) async fn policies(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Policy>> {
    select("WHERE deleted_at IS NULL ORDER BY policy_number").fetch_all(rows).await
}

pub(super) async fn keyless(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<Keyless>> {
    sqlx::query_as(
        "SELECT p.id, p.policy_number, p.destination_service_id, s.name AS destination
           FROM policies p JOIN services s ON s.id = p.destination_service_id
          WHERE p.deleted_at IS NULL AND p.status = $1
            AND NOT EXISTS (
                SELECT FROM keys k
                 WHERE k.service_id = p.destination_service_id
                   AND k.usage = $2 AND k.status = $3
                   AND (p.key_ownership <> $6 OR num_nonnulls(k.token_id, k.token_label) > 0)
                   AND (p.alg, k.family) IN (SELECT * FROM UNNEST ($4::text[], $5::text[])))
          ORDER BY p.policy_number
          LIMIT 50",
    )
    .bind(PolicyStatus::Active)
    .bind(Usage::Enc)
    .bind(keys::KeyStatus::Active)
    .bind(Alg::ALL)
    .bind(Alg::ALL.map(Alg::family))
    .bind(KeyOwnership::ServiceManaged)
    .fetch_all(database)
    .await
}

pub(super) async fn open_to_all(database: impl PgExecutor<'_>) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT count(*) FROM policies
          WHERE deleted_at IS NULL AND status = $1 AND allowed_service_ids IS NULL",
    )
    .bind(PolicyStatus::Active)
    .fetch_one(database)
    .await
}

pub(super) async fn extractable_keys(
    database: impl PgExecutor<'_>,
) -> sqlx::Result<Vec<Extractable>> {
    sqlx::query_as(
        "SELECT id, name FROM keys
          WHERE extractable AND status <> $1
          ORDER BY id
          LIMIT 50",
    )
    .bind(keys::KeyStatus::Destroyed)
    .fetch_all(database)
    .await
}

pub(super) async fn expiring_keys(
    database: impl PgExecutor<'_>,
    soon: Timestamp,
) -> sqlx::Result<Vec<Expiring<KeyId>>> {
    sqlx::query_as(
        "SELECT id, name, expires_at FROM keys
          WHERE status = ANY ($2) AND expires_at < $1
          ORDER BY expires_at
          LIMIT 50",
    )
    .bind(soon)
    .bind([keys::KeyStatus::Active, keys::KeyStatus::Retired])
    .fetch_all(database)
    .await
}

pub(super) async fn expiring_api_keys(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    soon: Timestamp,
    with_admin_keys: bool,
) -> sqlx::Result<Vec<Expiring<ApiKeyId>>> {
    sqlx::query_as(
        "SELECT id, name, expires_at FROM api_keys
          WHERE revoked_at IS NULL AND expires_at > $1 AND expires_at < $2
            AND ($3 OR type <> 'admin')
          ORDER BY expires_at
          LIMIT 50",
    )
    .bind(now)
    .bind(soon)
    .bind(with_admin_keys)
    .fetch_all(database)
    .await
}
