//! Warnings in the database.

use sqlx::PgExecutor;

use super::{Doubtful, Expiring, Keyless};
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, KeyId};

pub(super) async fn doubtful(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<Doubtful>> {
    sqlx::query_as(
        "SELECT id, policy_number, status, failure_mode FROM policies
          WHERE deleted_at IS NULL AND (status = 'inactive' OR failure_mode = 'passthrough')
          ORDER BY status = 'inactive' AND failure_mode = 'passthrough' DESC,
                   failure_mode = 'drop' DESC, policy_number
          LIMIT 50",
    )
    .fetch_all(database)
    .await
}

pub(super) async fn keyless(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<Keyless>> {
    sqlx::query_as(
        "SELECT p.id, p.policy_number, p.destination_service_id, s.name AS destination
           FROM policies p JOIN services s ON s.id = p.destination_service_id
          WHERE p.deleted_at IS NULL AND p.status = 'active'
            AND NOT EXISTS (
                SELECT FROM keys k
                 WHERE k.service_id = p.destination_service_id
                   AND k.usage = 'enc' AND k.status = 'active'
                   AND k.family = CASE WHEN p.alg LIKE 'RSA%' THEN 'RSA' ELSE 'EC' END)
          ORDER BY p.policy_number
          LIMIT 50",
    )
    .fetch_all(database)
    .await
}

pub(super) async fn open_to_all(database: impl PgExecutor<'_>) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT count(*) FROM policies
          WHERE deleted_at IS NULL AND status = 'active' AND allowed_service_ids IS NULL",
    )
    .fetch_one(database)
    .await
}

pub(super) async fn expiring_keys(
    database: impl PgExecutor<'_>,
    soon: Timestamp,
) -> sqlx::Result<Vec<Expiring<KeyId>>> {
    sqlx::query_as(
        "SELECT id, name, expires_at FROM keys
          WHERE status IN ('active', 'retired') AND expires_at < $1
          ORDER BY expires_at
          LIMIT 50",
    )
    .bind(soon)
    .fetch_all(database)
    .await
}

pub(super) async fn expiring_api_keys(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    soon: Timestamp,
) -> sqlx::Result<Vec<Expiring<ApiKeyId>>> {
    sqlx::query_as(
        "SELECT id, name, expires_at FROM api_keys
          WHERE revoked_at IS NULL AND expires_at > $1 AND expires_at < $2
          ORDER BY expires_at
          LIMIT 50",
    )
    .bind(now)
    .bind(soon)
    .fetch_all(database)
    .await
}
