//! The job that maintains the daily partitions of the audit log: it creates days ahead of time and
//! the indexes of closed days.

use std::convert::Infallible;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::timeout;

use super::store::{self, MaintenanceError};
use crate::db::{Pool, earlier_present};
use crate::jobs::{Job, Leader, Pulse};
use formats::clock::{Clock, Timestamp};

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Days created ahead. The writer creates a day that is missing.
const AHEAD: u32 = 7;

/// How long after midnight a day is closed: retries may write into it until then.
const CLOSE_DELAY: Duration = Duration::from_secs(60 * 60);

/// The interval of the job, and the interval after a failure.
const INTERVAL: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_secs(10);

/// The timeout of one run, so that a server that stops answering is logged. Creating the indexes of a
/// day takes minutes.
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The start of the oldest day that can still be written.
pub(super) fn oldest_open(now: Timestamp) -> Timestamp {
    now.minus(CLOSE_DELAY).start_of_day()
}

/// Runs the job until it is dropped. Of several instances, one at a time works.
pub async fn keep_days(clock: Clock, db: Pool, pulse: Pulse) -> Infallible {
    loop {
        let run = timeout(TIMEOUT, maintain_days(&db, clock.now()));
        let ended = run.await.unwrap_or(Err(MaintenanceError::Late));
        pulse.ended(&ended);
        let pause = match ended {
            Ok(()) => INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "the partitions of the audit log could not be maintained");
                RETRY
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Creates and closes the days that are due, unless another instance does so.
///
/// # Errors
/// The job is incomplete. Completed steps persist.
pub async fn maintain_days(db: &Pool, now: Timestamp) -> Result<(), MaintenanceError> {
    let ahead = (0..=AHEAD).map(|days| now.plus(DAY * days));
    store::make_days(&mut *db.acquire().await?, ahead).await?;
    let Some(mut leadership) = Leader::new(db.clone(), Job::AuditDays).lead().await? else {
        return Ok(());
    };
    let marks = leadership.marks();
    marks.during(close_days(leadership.connection(), db, now)).await?;
    Ok(leadership.release().await?)
}

async fn close_days(
    connection: &mut PgConnection,
    db: &Pool,
    now: Timestamp,
) -> Result<(), MaintenanceError> {
    store::allow_long_statements(connection).await?;
    let now = earlier_present(db, now).await?;
    while let Some(day) = store::close_day(connection, oldest_open(now)).await? {
        tracing::info!(day, "a day of the audit log is closed");
    }
    Ok(())
}
