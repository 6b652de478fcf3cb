//! The job that reads which jobs of one instance have a leader.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::board::{Board, Pulse};
use super::store;
use crate::db::Pool;

/// How often the leaders are read.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time after which a read has failed.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Notes on the board when an instance last had each job of one instance, until it is dropped.
pub async fn watch_leaders(board: Board, database: Pool, pulse: Pulse) -> Infallible {
    loop {
        // After a timeout the last known times stay and grow old.
        if let Ok(Ok(ages)) = timeout(TIMEOUT, store::ages(&database)).await {
            for (name, age) in ages {
                // A later release can have other jobs. A time in the future, which a login of the
                // database can write, shows nothing.
                if let (Ok(job), Ok(age)) = (name.parse(), Duration::try_from_secs_f64(age)) {
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
