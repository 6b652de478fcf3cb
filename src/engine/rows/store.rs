//! The resources that events attest, and the lock of the internal keys.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::management::Attested;
use crate::resource::{Select, select};

/// The advisory lock of processes that make internal keys.
const INTERNAL_KEYS: i64 = 0x5ea1_3a8d_0033;

/// Waits for other processes that make internal keys, until the transaction ends.
pub(super) async fn lock_internal_keys(connection: &mut PgConnection) -> sqlx::Result<()> {
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INTERNAL_KEYS);
    lock.execute(connection).await?;
    Ok(())
}

/// The resource with this identifier, unless it is deleted.
pub(super) fn living<R: Attested>(id: Uuid) -> Select<R> {
    let living =
        if keeps_deleted::<R>() { "WHERE id = $1 AND deleted_at IS NULL" } else { "WHERE id = $1" };
    select(living).bind(id)
}

/// At most `limit` resources after this identifier, without deleted ones.
pub(super) fn living_after<R: Attested>(id: Uuid, limit: i64) -> Select<R> {
    let living = if keeps_deleted::<R>() {
        "WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2"
    } else {
        "WHERE id > $1 ORDER BY id LIMIT $2"
    };
    select(living).bind(id).bind(limit)
}

/// Whether the row of a deleted resource stays.
fn keeps_deleted<R: Attested>() -> bool {
    R::COLUMNS.iter().copied().flatten().any(|column| *column == "deleted_at")
}
