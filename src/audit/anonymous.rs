//! Unauthenticated requests: some are recorded one by one, the others only counted, so that they can
//! neither fill nor delay the audit log.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use super::record::Outcome;

/// How many are recorded one by one in a second.
const PER_SECOND: u32 = 20;

/// How often the number of the others is recorded.
const SUMMARY_INTERVAL: Duration = Duration::from_secs(60);

/// The status, error code and outcome of a refused request.
pub(super) type Refused = (u16, Option<&'static str>, Outcome);

/// Decides which requests are recorded one by one, and counts the others.
#[derive(Debug, Default)]
pub(super) struct AnonymousLimit(Mutex<Counts>);

/// The requests that were counted since the last summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) requests: u64,
    /// How the last of them was refused.
    pub(super) refused: Refused,
}

#[derive(Debug, Default)]
struct Counts {
    second: u64,
    recorded: u32,
    others: Option<Summary>,
    summarized: Duration,
}

impl AnonymousLimit {
    /// Whether a request that arrives `now` is recorded by itself; otherwise it is counted.
    pub(super) fn admit(&self, now: Duration, refused: Refused) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.second != now.as_secs() {
            counts.second = now.as_secs();
            counts.recorded = 0;
        }
        let admitted = counts.recorded < PER_SECOND;
        if admitted {
            counts.recorded += 1;
        } else {
            counts.add(refused);
        }
        admitted
    }

    /// Counts an admitted request that could not be recorded.
    pub(super) fn count(&self, refused: Refused) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.add(refused);
    }

    /// The requests that were only counted: once a minute, and at the `end`.
    pub(super) fn summary(&self, now: Duration, end: bool) -> Option<Summary> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !end && now.saturating_sub(counts.summarized) < SUMMARY_INTERVAL {
            return None;
        }
        counts.summarized = now;
        counts.others.take()
    }
}

impl Counts {
    fn add(&mut self, refused: Refused) {
        let requests = self.others.map_or(0, |others| others.requests) + 1;
        self.others = Some(Summary { requests, refused });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_requests_per_second_are_recorded_and_the_others_counted_every_minute() {
        let limit = AnonymousLimit::default();
        let refused = (418, Some("TEAPOT"), Outcome::Refused);
        let at = |millis| Duration::from_millis(millis);
        let admitted = |from| {
            (0..50_u64)
                .filter(|i| limit.admit(at(from + i), refused))
                .count()
        };
        let thirty = Some(Summary {
            requests: 30,
            refused,
        });
        assert_eq!(admitted(60_000), 20);
        assert_eq!(limit.summary(at(60_100), false), thirty);
        assert_eq!(admitted(61_000), 20);
        assert_eq!(limit.summary(at(120_099), false), None);
        assert_eq!(limit.summary(at(120_100), false), thirty);
        assert_eq!(limit.summary(at(180_100), false), None);
        assert_eq!(admitted(181_000), 20);
        assert_eq!(limit.summary(at(181_001), true), thirty);
    }
}
