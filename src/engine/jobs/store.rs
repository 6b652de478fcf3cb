//! The leaders of jobs in Postgres.

use sqlx::{FromRow, PgConnection, PgExecutor};

use super::job::Job;
use formats::clock::Timestamp;

/// Takes the lock of this name, unless another connection has it. The server releases it when the
/// connection ends.
pub(crate) async fn take_turn(connection: &mut PgConnection, name: &str) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtextextended($1, 0))")
        .bind(name)
        .fetch_one(connection)
        .await
}

/// Releases the lock of this name.
pub(crate) async fn release_turn(connection: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_unlock(hashtextextended($1, 0))")
        .bind(name)
        .execute(connection)
        .await?;
    Ok(())
}

/// A mark of an instance that has a job.
#[derive(FromRow)]
pub(super) struct Mark {
    pub(super) job: String,
    /// By the clock of Postgres, in whole milliseconds.
    pub(super) led_at: Timestamp,
    pub(super) mac: Option<Vec<u8>>,
    /// Its age in seconds.
    pub(super) age: f64,
}

/// The time by the clock of Postgres.
pub(super) async fn now(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    let sql = "SELECT date_trunc('milliseconds', clock_timestamp())";
    sqlx::query_scalar(sql).fetch_one(database).await
}

/// Notes that an instance has a job now. Without the row key, there is no MAC.
pub(super) async fn mark(
    database: impl PgExecutor<'_>,
    job: Job,
    now: Timestamp,
    mac: Option<Vec<u8>>,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO job_leaders (job, led_at, mac) VALUES ($1, $2, $3)
         ON CONFLICT (job) DO UPDATE SET led_at = EXCLUDED.led_at, mac = EXCLUDED.mac",
    )
    .bind(job)
    .bind(now)
    .bind(mac)
    .execute(database)
    .await?;
    Ok(())
}

/// The latest mark of each job.
pub(super) async fn marks(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<Mark>> {
    sqlx::query_as(
        "SELECT job, led_at, mac, extract(epoch FROM clock_timestamp() - led_at)::float8 AS age
           FROM job_leaders",
    )
    .fetch_all(database)
    .await
}
