//! The lock of the internal keys.

use sqlx::PgConnection;

/// The advisory lock of processes that make internal keys.
const INTERNAL_KEYS: i64 = 0x5ea1_3a8d_0033;

/// Waits for other processes that make internal keys, until the transaction ends.
pub(super) async fn lock_internal_keys(connection: &mut PgConnection) -> sqlx::Result<()> {
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INTERNAL_KEYS);
    lock.execute(connection).await?;
    Ok(())
}
