//! How many changes wait for approval, for metrics.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::store;
use crate::db::Pool;
use formats::clock::{Clock, Timestamp};

/// How often the changes are counted.
const PERIOD: Duration = Duration::from_secs(15);

/// The pending changes, as last counted. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Backlog(Arc<Mutex<Counted>>);

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    pending: i64,
    oldest: Option<Timestamp>,
}

impl Backlog {
    /// The number of pending changes.
    #[must_use]
    pub fn pending(&self) -> i64 {
        self.counted().pending
    }

    /// When the oldest pending change was proposed; none without one.
    #[must_use]
    pub fn oldest(&self) -> Option<Timestamp> {
        self.counted().oldest
    }

    /// Counts the pending changes until the process ends.
    pub async fn watch(&self, clock: &Clock, database: &Pool) -> Infallible {
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            match store::backlog(database, clock.now()).await {
                Ok((pending, oldest)) => {
                    let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                    *counted = Counted { pending, oldest };
                }
                // The last count stays; other jobs report the outage.
                Err(error) => tracing::debug!(%error, "pending changes could not be counted"),
            }
        }
    }

    fn counted(&self) -> Counted {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
