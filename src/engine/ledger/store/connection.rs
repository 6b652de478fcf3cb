//! The connections of the jobs that only one instance runs.

use sqlx::{ConnectOptions as _, PgConnection, PgExecutor};

use crate::db::Pool;
use formats::clock::Timestamp;

/// A job that only one instance runs.
#[derive(Clone, Copy, Debug)]
pub(in crate::ledger) enum Job {
    Seal,
    Forward,
}

impl Job {
    /// The application name of its connection.
    const fn application(self) -> &'static str {
        match self {
            Self::Seal => "sealward sealer",
            Self::Forward => "sealward forwarder",
        }
    }

    /// The name of its lock.
    const fn lock(self) -> &'static str {
        match self {
            Self::Seal => "audit_log_heads",
            Self::Forward => "audit_forward_positions",
        }
    }
}

/// A connection for a job.
pub(in crate::ledger) async fn connect(pool: &Pool, job: Job) -> sqlx::Result<PgConnection> {
    let options = pool.connect_options().as_ref().clone();
    options.application_name(job.application()).connect().await
}

/// Takes the lock of a job, unless another instance has it. The server releases it when the connection
/// ends.
pub(in crate::ledger) async fn lock(connection: &mut PgConnection, job: Job) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtext($1), 0)")
        .bind(job.lock())
        .fetch_one(connection)
        .await
}

/// The time of the database.
pub(in crate::ledger) async fn now(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT clock_timestamp()")
        .fetch_one(database)
        .await
}
