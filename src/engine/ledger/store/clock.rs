//! The clock of Postgres, and its transactions.

use sqlx::{FromRow, PgExecutor};

use formats::clock::Timestamp;

/// A moment of the database. All transactions that are not named here had ended.
#[derive(Clone, Debug, FromRow)]
pub(in crate::ledger) struct Moment {
    pub(in crate::ledger) now: Timestamp,
    /// The transactions that had not ended, of those before `next`.
    pub(in crate::ledger) running: Vec<i64>,
    /// None from this transaction on had ended.
    pub(in crate::ledger) next: i64,
}

/// The present moment.
pub(in crate::ledger) async fn moment(database: impl PgExecutor<'_>) -> sqlx::Result<Moment> {
    sqlx::query_as(
        "SELECT clock_timestamp() AS now, ARRAY(SELECT pg_snapshot_xip(present)::text::bigint) AS running,
                pg_snapshot_xmax(present)::text::bigint AS next FROM pg_current_snapshot() AS present",
    )
    .fetch_one(database)
    .await
}

/// The time of the database.
pub(in crate::ledger) async fn now(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(database).await
}
