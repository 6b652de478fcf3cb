//! The destruction of keys.

use sqlx::{PgConnection, PgExecutor};

use super::update;
use crate::db::Pool;
use crate::ids::KeyId;
use crate::keys::{Key, KeyStatus};
use crate::resource::{Rows, Stored as _, select};
use formats::clock::Timestamp;

/// Begins the destruction of the keys that are due. They are due when Postgres' clock says so too: the
/// clock of this process may be wrong. Without such keys nothing is written, because each write to the
/// table empties the caches of all instances.
pub(crate) async fn begin_destruction(database: &Pool, now: Timestamp) -> sqlx::Result<()> {
    let mut transaction = database.begin().await?;
    let due =
        select("WHERE status = $1 AND destroying_at IS NULL AND destroy_at <= least($2, now())");
    let due = due.bind(KeyStatus::PendingDestruction).bind(now);
    let due: Vec<Key> = due.lock_all("FOR UPDATE", database.rows_on(&mut transaction)).await?;
    for key in due {
        let begun = Key { destroying_at: Some(now), ..key.rewritten() };
        update(database.rows_on(&mut transaction), &begun).await?;
    }
    transaction.commit().await
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
    rows: Rows<&mut PgConnection>,
    but: &[KeyId],
) -> sqlx::Result<Option<Key>> {
    let locked = select(
        "WHERE status = $1 AND destroying_at IS NOT NULL AND id <> ALL ($2) ORDER BY destroy_at",
    )
    .bind(KeyStatus::PendingDestruction)
    .bind(but)
    .lock_all("FOR UPDATE SKIP LOCKED", rows);
    Ok(locked.await?.into_iter().next())
}
