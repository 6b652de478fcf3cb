//! The clock of Postgres, and its transactions.

use sqlx::{FromRow, PgExecutor};

use formats::clock::Timestamp;

/// A moment of the database.
#[derive(Clone, Copy, Debug, FromRow)]
pub(in crate::ledger) struct Moment {
    pub(in crate::ledger) now: Timestamp,
    /// The oldest transaction that had not ended. What earlier ones have committed is visible.
    pub(in crate::ledger) oldest: i64,
    /// The first transaction that had not begun.
    pub(in crate::ledger) next: i64,
}

/// The present moment.
pub(in crate::ledger) async fn moment(database: impl PgExecutor<'_>) -> sqlx::Result<Moment> {
    sqlx::query_as(
        "SELECT clock_timestamp() AS now, pg_snapshot_xmin(present)::text::bigint AS oldest,
                pg_snapshot_xmax(present)::text::bigint AS next FROM pg_current_snapshot() AS present",
    )
    .fetch_one(database)
    .await
}

/// The time of the database.
pub(in crate::ledger) async fn now(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(database).await
}
