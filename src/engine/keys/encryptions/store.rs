//! Counts of encryptions in the database.

use sqlx::PgExecutor;

use crate::ids::KeyId;
use crate::keys::KeyStatus;

/// Reserves `block` AES-GCM encryptions unless the total exceeds `most`. Returns the total.
pub(super) async fn reserve_encryptions(
    database: impl PgExecutor<'_>,
    key: KeyId,
    block: i64,
    most: i64,
) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar(
        "INSERT INTO key_encryptions AS known (key_id, reserved) VALUES ($1, $2)
         ON CONFLICT (key_id) DO UPDATE SET reserved = known.reserved + $2
         WHERE known.reserved + $2 <= $3
         RETURNING reserved",
    )
    .bind(key)
    .bind(block)
    .bind(most)
    .fetch_optional(database)
    .await
}

/// The keys with 2^31 reserved encryptions or more that are not destroyed, and their counts. Postgres
/// uses the partial index only if the statement contains the number as a literal.
pub(super) async fn worn(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<(KeyId, i64)>> {
    sqlx::query_as(
        "SELECT key_id, reserved FROM key_encryptions JOIN keys ON keys.id = key_id
          WHERE reserved >= 2147483648 AND status <> $1 ORDER BY key_id",
    )
    .bind(KeyStatus::Destroyed)
    .fetch_all(database)
    .await
}
