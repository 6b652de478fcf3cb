//! The destruction of keys.

use sqlx::{PgConnection, PgExecutor};

use crate::db::{Pool, sql};
use crate::ids::KeyId;
use crate::keys::{Key, KeyStatus};
use crate::resource::select;
use formats::clock::Timestamp;

const DUE: &str = "WHERE status = $1 AND destroying_at IS NULL AND destroy_at <= least($2, now())";

/// Begins the destruction of the keys that are due. They are due when Postgres' clock says so too: the
/// clock of this process may be wrong. Without such keys nothing is written, because each write to the
/// table empties the caches of all instances.
pub(crate) async fn begin_destruction(database: &Pool, now: Timestamp) -> sqlx::Result<()> {
    let is_due = sqlx::query_scalar(sql(["SELECT EXISTS (SELECT FROM keys ", DUE, ")"]));
    let is_due = is_due.bind(KeyStatus::PendingDestruction).bind(now);
    if is_due.fetch_one(database).await? {
        sqlx::query(sql(["UPDATE keys SET destroying_at = now() ", DUE]))
            .bind(KeyStatus::PendingDestruction)
            .bind(now)
            .execute(database)
            .await?;
    }
    Ok(())
}

/// Whether the delay of a deleted key is over by Postgres' clock, or its destruction has begun.
pub(crate) async fn is_past_restoring(
    database: impl PgExecutor<'_>,
    id: KeyId,
) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT destroying_at IS NOT NULL OR destroy_at <= clock_timestamp()
           FROM keys WHERE id = $1",
    )
    .bind(id)
    .fetch_one(database)
    .await
}

/// Locks one key whose destruction has begun, except those in `but`. A key that another instance has
/// locked is left to it.
pub(crate) async fn lock_destroying(
    connection: &mut PgConnection,
    but: &[KeyId],
) -> sqlx::Result<Option<Key>> {
    select(
        "WHERE status = $1 AND destroying_at IS NOT NULL AND id <> ALL ($2)
          ORDER BY destroy_at LIMIT 1 FOR UPDATE SKIP LOCKED",
    )
    .bind(KeyStatus::PendingDestruction)
    .bind(but)
    .fetch_optional(connection)
    .await
}
