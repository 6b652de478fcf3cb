//! Retires the old days of the audit log: detaches them, and drops the detached tables if asked to.
//! The database decides which days are old enough. The service itself cannot retire days.

mod store;

use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::{Instant, sleep};

pub use self::store::RetentionError;
use self::store::RetentionStep;
use super::days::DAY;
use crate::db::earlier_present;
use crate::jobs::{release_turn, take_turn};
use formats::clock::Timestamp;

/// The pause before a lock is tried again. Each try delays the audit writer by at most 50 ms.
const PAUSE: Duration = Duration::from_secs(1);

/// The lock of the processes that retire days.
const LOCK: &str = "sealward retain";

/// How long the audit log is kept, and whether retired days are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The whole days before today that are kept.
    pub days: u32,
    /// Whether the tables of detached days are dropped.
    pub drop: bool,
}

/// A day that was retired, as `2026-01-31`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Retired {
    /// It is no longer part of the audit log; its table remains.
    Detached(String),
    /// Its table no longer exists.
    Dropped(String),
}

/// Retires all days that are older than `retention` allows, and reports each one. Of several
/// processes, one works and the others wait. `patience` is the maximum wait for locks.
///
/// # Errors
/// The database refuses, or some days remain. Completed steps persist.
pub async fn retire_days(
    connection: &mut PgConnection,
    now: Timestamp,
    retention: Retention,
    patience: Duration,
    mut report: impl FnMut(Retired),
) -> Result<(), RetentionError> {
    let deadline = Instant::now() + patience;
    store::assume_role(connection).await?;
    while !take_turn(connection, LOCK).await? {
        wait(deadline).await?;
    }
    let now = earlier_present(&mut *connection, now).await?;
    let oldest = now.minus(DAY * retention.days);
    while let Some(day) = next(connection, RetentionStep::Detach, oldest, deadline).await? {
        report(Retired::Detached(day));
    }
    while retention.drop
        && let Some(day) = next(connection, RetentionStep::Drop, oldest, deadline).await?
    {
        report(Retired::Dropped(day));
    }
    release_turn(connection, LOCK).await?;
    Ok(())
}

async fn next(
    connection: &mut PgConnection,
    step: RetentionStep,
    oldest: Timestamp,
    deadline: Instant,
) -> Result<Option<String>, RetentionError> {
    loop {
        match store::retire(connection, step, oldest).await {
            Err(RetentionError::Locked) => wait(deadline).await?,
            done => return done,
        }
    }
}

async fn wait(deadline: Instant) -> Result<(), RetentionError> {
    if Instant::now() >= deadline {
        return Err(RetentionError::Locked);
    }
    sleep(PAUSE).await;
    Ok(())
}
