//! Unauthenticated requests: some are recorded one by one, the others only counted, so that they can
//! neither fill nor delay the audit log.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use super::per_second::PerSecond;

/// How many are recorded one by one in a second.
const PER_SECOND: u32 = 20;

/// How often the number of the others is recorded.
const SUMMARY_INTERVAL: Duration = Duration::from_secs(60);

/// Decides which requests are recorded one by one, and counts the others. `R` describes how a request
/// was refused.
#[derive(Debug)]
pub(crate) struct AnonymousLimit<R>(Mutex<Counts<R>>);

/// The requests that were counted since the last summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary<R> {
    /// Their number.
    pub requests: u64,
    /// How the last of them was refused.
    pub(super) refused: R,
}

#[derive(Debug)]
struct Counts<R> {
    recorded: PerSecond<PER_SECOND>,
    others: Option<Summary<R>>,
    summarized: Duration,
}

impl<R: Copy> AnonymousLimit<R> {
    /// Counts from `now` on.
    pub(crate) fn new(now: Duration) -> Self {
        Self(Mutex::new(Counts { recorded: PerSecond::default(), others: None, summarized: now }))
    }

    /// Whether a request that arrives `now` is recorded by itself; otherwise it is counted.
    pub(crate) fn admit(&self, now: Duration, refused: R) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let admitted = counts.recorded.admit(now);
        if !admitted {
            counts.add(refused);
        }
        admitted
    }

    /// Counts an admitted request that could not be recorded.
    pub(crate) fn count(&self, refused: R) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.add(refused);
    }

    /// The requests that were only counted: once a minute, and at the `end`.
    pub(crate) fn summary(&self, now: Duration, end: bool) -> Option<Summary<R>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !end && now.saturating_sub(counts.summarized) < SUMMARY_INTERVAL {
            return None;
        }
        counts.summarized = now;
        counts.others.take()
    }
}

impl<R> Counts<R> {
    fn add(&mut self, refused: R) {
        let requests = self.others.as_ref().map_or(0, |others| others.requests) + 1;
        self.others = Some(Summary { requests, refused });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Outcome;

    #[test]
    fn twenty_requests_per_second_are_recorded_and_the_others_counted_every_minute() {
        let limit = AnonymousLimit::new(Duration::from_millis(100));
        let refused = (418, Some("TEAPOT"), Outcome::Refused);
        let at = |millis| Duration::from_millis(millis);
        let admitted = |from| (0..50_u64).filter(|i| limit.admit(at(from + i), refused)).count();
        let thirty = Some(Summary { requests: 30, refused });
        assert_eq!(admitted(60_000), 20);
        assert_eq!(limit.summary(at(60_099), false), None);
        assert_eq!(limit.summary(at(60_100), false), thirty);
        assert_eq!(admitted(61_000), 20);
        assert_eq!(limit.summary(at(120_099), false), None);
        assert_eq!(limit.summary(at(120_100), false), thirty);
        assert_eq!(limit.summary(at(180_100), false), None);
        assert_eq!(admitted(181_000), 20);
        assert_eq!(limit.summary(at(181_001), true), thirty);
    }
}
