//! Counts of encryptions in the database.

use sqlx::PgExecutor;

use crate::ids::KeyId;

/// Reserves `block` encryptions with AES-GCM, unless that goes beyond `most`. Gives how many have
/// been reserved altogether.
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

/// The living keys of which 2^31 encryptions or more have been reserved, and how many. There is an
/// index of just these, which Postgres only uses where the number stands in the statement.
pub(super) async fn worn(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<(KeyId, i64)>> {
    sqlx::query_as(
        "SELECT key_id, reserved FROM key_encryptions JOIN keys ON keys.id = key_id
          WHERE reserved >= 2147483648 AND status <> 'destroyed' ORDER BY key_id",
    )
    .fetch_all(database)
    .await
}
