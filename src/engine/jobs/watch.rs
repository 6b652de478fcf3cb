//! The job that reads which jobs of one instance have a leader.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::board::{Board, Pulse};
use super::store::{self, Mark};
use crate::db::Pool;
use crate::seals::RowKey;

/// How often the leaders are read.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time after which a read has failed.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Notes on the board when an instance last had each job of one instance, until it is dropped.
pub async fn watch_leaders(board: Board, database: Pool, pulse: Pulse) -> Infallible {
    loop {
        // After a timeout the last known times stay and grow old.
        if let Ok(Ok(marks)) = timeout(TIMEOUT, store::marks(&database)).await {
            let key = database.seals().current();
            for mark in marks {
                // A later release can have other jobs. The clock of Postgres can go back.
                if let (Ok(job), Ok(age)) =
                    (mark.job.parse(), Duration::try_from_secs_f64(mark.age))
                    && key.as_deref().is_none_or(|key| is_own(key, &mark))
                {
                    board.led(job, age);
                }
            }
            pulse.succeeded();
        } else {
            pulse.alive();
        }
        sleep(INTERVAL).await;
    }
}

/// Whether an instance made the mark. The login of the service can write any other one, and take the lock of a job.
fn is_own(key: &RowKey, mark: &Mark) -> bool {
    mark.mac.as_ref().is_some_and(|mac| key.is_mark(&mark.job, mark.led_at, mac))
}
