//! The keys of reports in the database.

use sqlx::{PgConnection, PgExecutor};

use super::ReportKey;
use crate::resource::{Rows, select};

/// The keys whose rows count, the newest last.
pub(super) async fn all(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<ReportKey>> {
    select("ORDER BY created_at, id").fetch_all(rows).await
}

/// Waits for other processes that make a key, until the transaction ends.
pub(super) async fn lock(connection: &mut PgConnection) -> sqlx::Result<()> {
    let lock = "SELECT pg_advisory_xact_lock(hashtext('report_keys'), 1)";
    sqlx::query(lock).execute(connection).await?;
    Ok(())
}
