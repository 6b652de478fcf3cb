//! The switch in the database.

use sqlx::PgConnection;

/// Keeps others from changing the switch until the transaction ends. It may have no row to lock.
pub(super) async fn lock(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("LOCK TABLE emergency IN SHARE ROW EXCLUSIVE MODE").execute(connection).await?;
    Ok(())
}
