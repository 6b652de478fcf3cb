//! The leaders of jobs in Postgres.

use sqlx::{PgConnection, PgExecutor};

use super::job::Job;

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

/// Notes that an instance has a job now.
pub(super) async fn mark(database: impl PgExecutor<'_>, job: Job) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO job_leaders (job, led_at) VALUES ($1, clock_timestamp())
         ON CONFLICT (job) DO UPDATE SET led_at = EXCLUDED.led_at",
    )
    .bind(job)
    .execute(database)
    .await?;
    Ok(())
}

/// The seconds since an instance had each job.
pub(super) async fn ages(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<(String, f64)>> {
    sqlx::query_as(
        "SELECT job, extract(epoch FROM clock_timestamp() - led_at)::float8 FROM job_leaders",
    )
    .fetch_all(database)
    .await
}
