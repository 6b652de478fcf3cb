//! The clock of Postgres.

use sqlx::PgExecutor;

use formats::clock::Timestamp;

/// The time of the database.
pub(in crate::ledger) async fn now(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(database).await
}
