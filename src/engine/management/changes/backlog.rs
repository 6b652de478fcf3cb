//! How many changes wait for approval, for metrics.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::store;
use crate::db::Pool;
use crate::jobs::{Job, Observed, Pulse};
use formats::clock::{Clock, Timestamp};

/// How often the changes are counted.
const PERIOD: Duration = Duration::from_secs(15);

/// The pending changes. Clones share them.
#[derive(Clone)]
pub struct Backlog(Observed<Option<Pending>>);

/// The pending changes, as counted.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Their number.
    pub number: i64,
    /// When the oldest of them was proposed; none without one.
    pub oldest: Option<Timestamp>,
}

impl Backlog {
    /// A backlog that is not counted yet.
    pub fn new(clock: Clock) -> Self {
        let period = Job::PendingChanges.spec().period();
        Self(Observed::new(clock, period, None))
    }

    /// The pending changes, if they were counted a short time ago.
    pub fn pending(&self) -> Option<Pending> {
        *self.0.known()?
    }

    /// Counts the pending changes until the process ends.
    pub async fn watch(self, clock: Clock, database: Pool, pulse: Pulse) -> Infallible {
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            let counted = store::backlog(&database, clock.now()).await;
            pulse.ended(&counted);
            match counted {
                Ok((number, oldest)) => self.0.set(Some(Pending { number, oldest })),
                // Other jobs report the outage.
                Err(error) => tracing::debug!(%error, "pending changes could not be counted"),
            }
        }
    }
}
