//! Intents in the database: objects about to be made in a token.

use sqlx::PgExecutor;
use uuid::Uuid;

use crate::keys::Assignment;
use formats::clock::Timestamp;

/// The purpose of an intended object.
#[derive(Clone, Copy, Debug)]
pub(in crate::keys) enum Purpose {
    /// A key with this assignment.
    Key(Assignment),
    /// The wrapping key of an import.
    ImportKey,
}

/// Stores the intent to create an object in a token.
pub(in crate::keys) async fn intend(
    database: impl PgExecutor<'_>,
    id: Uuid,
    purpose: Purpose,
    now: Timestamp,
) -> sqlx::Result<()> {
    let (purpose, assignment) = match purpose {
        Purpose::Key(assignment) => ("key", Some(assignment)),
        Purpose::ImportKey => ("import_key", None),
    };
    sqlx::query(
        "INSERT INTO key_intents (id, purpose, service_id, created_at, change_id, attempt)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(id)
    .bind(purpose)
    .bind(assignment.map(|assignment| assignment.service_id))
    .bind(now)
    .bind(assignment.and_then(|assignment| assignment.change))
    .bind(assignment.and_then(|assignment| assignment.attempt))
    .execute(database)
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
