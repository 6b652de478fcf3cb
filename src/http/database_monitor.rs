//! Measures the database in the background, so that health checks do not query it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use engine::db::{Pool, Probe};
use engine::ids::KeyId;
use engine::jobs::{Job, Observed, Pulse};
use engine::keys::Encryptions;
use formats::clock::Clock;

/// The state of the database within the last second. Clones share it.
#[derive(Clone)]
pub struct DatabaseMonitor {
    clock: Clock,
    database: Pool,
    encryptions: Arc<Encryptions>,
    state: Observed<DatabaseState>,
    /// Keys near their limit of encryptions.
    worn: Observed<Vec<KeyId>>,
}

/// The state of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseState {
    /// It answers within this time.
    Answers(Duration),
    /// It does not answer.
    Unavailable,
    /// It was not measured for too long.
    Unknown,
}

/// A database that takes longer counts as unavailable.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The pause between two checks.
const INTERVAL: Duration = Duration::from_millis(250);

const _: () =
    assert!(INTERVAL.as_millis() + TIMEOUT.as_millis() < 1_000, "a change shows within a second");

impl DatabaseState {
    /// The latency of a database that answers.
    pub const fn latency(self) -> Option<Duration> {
        match self {
            Self::Answers(latency) => Some(latency),
            Self::Unavailable | Self::Unknown => None,
        }
    }
}

impl DatabaseMonitor {
    /// Checks the database once, so that the state is known from the start.
    pub async fn start(clock: Clock, database: Pool, encryptions: Arc<Encryptions>) -> Self {
        let period = Job::DatabaseMonitor.spec().period();
        let monitor = Self {
            state: Observed::new(clock.clone(), period, DatabaseState::Unknown),
            worn: Observed::new(clock.clone(), period, Vec::new()),
            clock,
            database,
            encryptions,
        };
        let mut probe = Probe::new(monitor.database.clone());
        monitor.check(&mut probe).await;
        monitor
    }

    /// Checks the database repeatedly, for as long as this is polled.
    pub async fn run(self, pulse: Pulse) -> Infallible {
        let mut probe = Probe::new(self.database.clone());
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.check(&mut probe).await;
            pulse.succeeded();
        }
    }

    async fn check(&self, probe: &mut Probe) {
        let started = self.clock.monotonic();
        if !probe.answers(TIMEOUT).await {
            // The known list of keys becomes unknown.
            self.state.set(DatabaseState::Unavailable);
            return;
        }
        let latency = self.clock.monotonic().saturating_sub(started);
        self.state.set(DatabaseState::Answers(latency));
        if let Ok(Ok(worn)) = timeout(TIMEOUT, self.encryptions.worn()).await {
            self.worn.set(worn.into_iter().map(|(key, _)| key).collect());
        }
    }

    pub fn state(&self) -> DatabaseState {
        let known = self.state.known();
        known.map_or(DatabaseState::Unknown, |state| *state)
    }

    /// Keys near their limit of encryptions, which should be replaced; none if that is unknown.
    pub fn worn(&self) -> Option<Arc<Vec<KeyId>>> {
        self.worn.known()
    }
}
