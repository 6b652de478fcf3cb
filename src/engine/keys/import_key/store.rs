//! Wrapping keys in the database.

use sqlx::{PgConnection, PgExecutor};

use super::{ImportKeyRecord, Usable};
use crate::ids::ImportKeyId;
use crate::keys::vault::store::forget_intent;
use formats::clock::Timestamp;

/// Records a wrapping key.
pub(super) async fn insert_import_key(
    connection: &mut PgConnection,
    key: &ImportKeyRecord,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO import_keys (id, mechanism, public_key, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(key.id)
    .bind(key.mechanism)
    .bind(key.public.to_spki())
    .bind(key.expires_at)
    .bind(key.created_at)
    .execute(&mut *connection)
    .await?;
    forget_intent(connection, key.id.uuid()).await?;
    Ok(())
}

/// Counts an attempt with a wrapping key that is still valid.
pub(super) async fn attempt_import(
    database: impl PgExecutor<'_>,
    id: ImportKeyId,
    now: Timestamp,
    most: i32,
) -> sqlx::Result<Option<Usable>> {
    sqlx::query_as(
        "UPDATE import_keys SET attempts = attempts + 1, attempted_at = $2
          WHERE id = $1 AND used_at IS NULL AND destroyed_at IS NULL
            AND expires_at > $2 AND attempts < $3
        RETURNING mechanism, expires_at",
    )
    .bind(id)
    .bind(now)
    .bind(most)
    .fetch_optional(database)
    .await
}

/// A wrapping key that can still unwrap a key.
pub(super) async fn usable_import_key(
    database: impl PgExecutor<'_>,
    id: ImportKeyId,
    now: Timestamp,
    most: i32,
) -> sqlx::Result<Option<Usable>> {
    sqlx::query_as(
        "SELECT mechanism, expires_at FROM import_keys
          WHERE id = $1 AND used_at IS NULL AND destroyed_at IS NULL
            AND expires_at > $2 AND attempts < $3",
    )
    .bind(id)
    .bind(now)
    .bind(most)
    .fetch_optional(database)
    .await
}

/// Marks a wrapping key as used, unless it is used already.
pub(super) async fn spend_import_key(
    connection: &mut PgConnection,
    id: ImportKeyId,
    now: Timestamp,
) -> sqlx::Result<bool> {
    let spent =
        sqlx::query("UPDATE import_keys SET used_at = $2 WHERE id = $1 AND used_at IS NULL")
            .bind(id)
            .bind(now)
            .execute(connection)
            .await?;
    Ok(spent.rows_affected() > 0)
}

/// Locks a wrapping key that is no longer usable and has no attempt in progress. Skips keys that
/// another instance has locked. The clock of Postgres must confirm the expiry, because the local clock
/// can be wrong.
pub(super) async fn lock_spent_import_key(
    connection: &mut PgConnection,
    now: Timestamp,
    most: i32,
) -> sqlx::Result<Option<ImportKeyId>> {
    sqlx::query_scalar(
        "SELECT id FROM import_keys
          WHERE destroyed_at IS NULL
            AND (used_at IS NOT NULL OR expires_at <= least($1, now())
                 OR attempts >= $2 AND attempted_at < least($1, now()) - interval '10 minutes')
          ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    )
    .bind(now)
    .bind(most)
    .fetch_optional(connection)
    .await
}

/// Records that the token no longer has a wrapping key.
pub(super) async fn bury_import_key(
    connection: &mut PgConnection,
    id: ImportKeyId,
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query("UPDATE import_keys SET destroyed_at = $2 WHERE id = $1")
        .bind(id)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}
