//! The job that keeps days to write into ahead of time, and makes closed days quick to search.

use std::convert::Infallible;
use std::time::Duration;

use sqlx::PgPool;

use super::store::{self, Failure};
use crate::clock::{Clock, Timestamp};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Days made ahead. A database without this job's help for longer still works: the scribe makes a
/// day that it misses.
const AHEAD: u32 = 7;

/// How long after midnight a day counts as closed: retries may still write into it until then.
const SETTLED: Duration = Duration::from_secs(60 * 60);

/// How often to look, and how soon again after a failure.
const EVERY: Duration = Duration::from_secs(10 * 60);
const SOON: Duration = Duration::from_secs(10);

/// Looks after the days for as long as it is polled. Several instances do so without harm: what is
/// there is not made again.
pub async fn keep_days(clock: Clock, db: PgPool) -> Infallible {
    loop {
        let pause = match look_after(&db, clock.now()).await {
            Ok(()) => EVERY,
            Err(error) => {
                tracing::warn!(%error, "the days of the audit trail could not be looked after");
                SOON
            }
        };
        tokio::time::sleep(pause).await;
    }
}

async fn look_after(db: &PgPool, now: Timestamp) -> Result<(), Failure> {
    let days = (0..=AHEAD).map(|ahead| now.plus(DAY * ahead));
    store::make_days(&mut *db.acquire().await?, days).await?;
    let settled = now.minus(SETTLED);
    store::close_days(db, settled).await?;
    Ok(())
}
