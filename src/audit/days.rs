//! The job that keeps days to write into ahead of time, makes days quick to search, and retires
//! old ones.

use std::convert::Infallible;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::timeout;

use super::store::{self, Caretaker, Neglect};
use crate::clock::{Clock, Timestamp};
use crate::db::earlier_present;
use crate::settings::Audit;

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Days made ahead. A database without this job's help for longer still works: the scribe makes a
/// day that it misses.
const AHEAD: u32 = 7;

/// How long after midnight a day counts as closed: retries may still write into it until then.
const SETTLED: Duration = Duration::from_secs(60 * 60);

/// How often to look, so that a day is closed soon after it may be, and how soon again after a
/// failure.
const EVERY: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(10);

/// How long to wait for one look to end, so that a server that has gone without a word is told of.
/// The indexes of a day take minutes to make.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// For how long the trail is kept, and what becomes of the days that are not in it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    days: u32,
    drop: bool,
}

impl Retention {
    /// What the settings say; none where all days are kept.
    #[must_use]
    pub fn of(settings: &Audit) -> Option<Self> {
        Some(Self {
            days: settings.retention_days?,
            drop: settings.drop_retired,
        })
    }
}

/// The beginning of the oldest day that may still be written.
pub(super) fn oldest_open(now: Timestamp) -> Timestamp {
    now.minus(SETTLED).start_of_day()
}

/// Looks after the days for as long as it is polled. Of several instances one at a time does so.
pub async fn keep_days(clock: Clock, db: PgPool, retention: Option<Retention>) -> Infallible {
    loop {
        let look = timeout(LONGEST, look_after(&db, clock.now(), retention));
        let pause = match look.await.unwrap_or(Err(Neglect::Late)) {
            Ok(()) => EVERY,
            Err(error) => {
                tracing::warn!(%error, "the days of the audit trail could not be looked after");
                SOON
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Makes, closes and retires the days that are due, unless another instance is at it.
///
/// # Errors
/// When something is left to do. What was done stays done.
pub async fn look_after(
    db: &PgPool,
    now: Timestamp,
    retention: Option<Retention>,
) -> Result<(), Neglect> {
    let ahead = (0..=AHEAD).map(|days| now.plus(DAY * days));
    store::make_days(&mut *db.acquire().await?, ahead).await?;
    let Some(mut caretaker) = Caretaker::appoint(db).await? else {
        return Ok(());
    };
    let now = earlier_present(db, now).await?;
    while let Some(day) = caretaker.close_day(oldest_open(now)).await? {
        tracing::info!(day, "a day of the audit trail is closed");
    }
    if let Some(retention) = retention {
        let oldest = now.minus(DAY * retention.days);
        caretaker.may_retire().await?;
        while let Some(day) = caretaker.detach_day(oldest).await? {
            tracing::info!(day, "a day was taken out of the audit trail");
        }
        while retention.drop
            && let Some(day) = caretaker.drop_day(oldest).await?
        {
            tracing::info!(
                day,
                "a day that was taken out of the audit trail is dropped"
            );
        }
    }
    caretaker.resign().await
}
