//! Intents in the database: objects about to be made in a token.

use sqlx::PgExecutor;
use uuid::Uuid;

use super::intent::Intent;
use crate::resource::Rows;

/// Stores the intent to create an object in a token.
pub(in crate::keys) async fn intend(
    rows: Rows<impl PgExecutor<'_>>,
    intent: &Intent,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO key_intents (id, purpose, service_id, created_at, change_id, attempt, mac)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(intent.id)
    .bind(&intent.purpose)
    .bind(intent.service_id)
    .bind(intent.created_at)
    .bind(intent.change_id)
    .bind(intent.attempt)
    .bind(intent.mac(&rows.seals)?)
    .execute(rows.executor)
    .await?;
    Ok(())
}

/// Removes an intent, and returns whether it existed.
pub(in crate::keys) async fn forget_intent(
    database: impl PgExecutor<'_>,
    id: Uuid,
) -> sqlx::Result<bool> {
    let removed =
        sqlx::query("DELETE FROM key_intents WHERE id = $1").bind(id).execute(database).await?;
    Ok(removed.rows_affected() > 0)
}

/// Whether the identifier belongs to an object that Sealward created or is creating. Entries of
/// `revisions` are never deleted.
pub(super) async fn is_ours(database: impl PgExecutor<'_>, id: Uuid) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM import_keys WHERE id = $1)
             OR EXISTS (SELECT FROM key_intents WHERE id = $1)
             OR EXISTS (SELECT FROM keys WHERE id = $1)
             OR EXISTS (SELECT FROM revisions WHERE table_name IN ('keys', 'import_keys') AND id = $1)",
    )
    .bind(id)
    .fetch_one(database)
    .await
}
