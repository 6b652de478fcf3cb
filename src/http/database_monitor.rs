//! Measures the database in the background, so that health checks do not query it.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::timeout;

use engine::db::{Pool, Probe};
use engine::ids::KeyId;
use engine::keys::Encryptions;
use formats::clock::Clock;

/// The state of the database within the last second. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct DatabaseMonitor(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The time that the database took to answer, in microseconds.
    latency: AtomicU64,
    /// Keys near their limit of encryptions.
    worn: Mutex<Vec<KeyId>>,
}

/// A database that takes longer counts as unavailable.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The pause between two checks.
const INTERVAL: Duration = Duration::from_millis(250);

const _: () = assert!(
    INTERVAL.as_millis() + TIMEOUT.as_millis() < 1_000,
    "a change shows within a second"
);

/// The latency of a database that does not answer.
const UNAVAILABLE: u64 = 0;

impl DatabaseMonitor {
    /// Checks the database once, so that the state is known from the start.
    pub async fn start(clock: &Clock, database: &Pool, encryptions: &Encryptions) -> Self {
        let monitor = Self::default();
        let mut probe = Probe::new(database.clone());
        monitor.check(clock, &mut probe, encryptions).await;
        monitor
    }

    /// Checks the database repeatedly, for as long as this is polled.
    pub async fn run(self, clock: Clock, database: Pool, encryptions: &Encryptions) -> Infallible {
        let mut probe = Probe::new(database);
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.check(&clock, &mut probe, encryptions).await;
        }
    }

    async fn check(&self, clock: &Clock, probe: &mut Probe, encryptions: &Encryptions) {
        let started = clock.monotonic();
        let latency = if probe.answers(TIMEOUT).await {
            let took = clock.monotonic().saturating_sub(started);
            u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1)
        } else {
            UNAVAILABLE
        };
        self.0.latency.store(latency, Ordering::Relaxed);
        // While the database is unavailable, the known list stays.
        if latency != UNAVAILABLE
            && let Ok(Ok(worn)) = timeout(TIMEOUT, encryptions.worn()).await
        {
            let worn = worn.into_iter().map(|(key, _)| key).collect();
            *self.0.worn.lock().unwrap_or_else(PoisonError::into_inner) = worn;
        }
    }

    /// The last latency of the database; none while it is unavailable.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match self.0.latency.load(Ordering::Relaxed) {
            UNAVAILABLE => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }

    /// Keys near their limit of encryptions, which should be replaced.
    #[must_use]
    pub fn worn(&self) -> Vec<KeyId> {
        self.0
            .worn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
