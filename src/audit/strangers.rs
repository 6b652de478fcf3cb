//! Requests of nobody. Some are recorded one by one; of the rest only the number is kept, so that
//! strangers can neither fill the trail nor hold it up.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// How many are recorded one by one in a second.
const A_SECOND: u32 = 20;

/// How often the number of the others is recorded.
const TALLY: Duration = Duration::from_secs(60);

/// Decides which requests are recorded one by one, and counts the others.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    second: u64,
    recorded: u32,
    others: u64,
    told: Duration,
}

impl Strangers {
    /// Whether the request that arrives `now` is recorded by itself; else it is counted.
    pub(super) fn admit(&self, now: Duration) -> bool {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if count.second != now.as_secs() {
            count.second = now.as_secs();
            count.recorded = 0;
        }
        let admitted = count.recorded < A_SECOND;
        if admitted {
            count.recorded += 1;
        } else {
            count.others += 1;
        }
        admitted
    }

    /// Counts a request that could not be recorded by itself after all.
    pub(super) fn count(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).others += 1;
    }

    /// How many were only counted, once a minute and at the `end`; none, and nothing is told.
    pub(super) fn tally(&self, now: Duration, end: bool) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !end && now.saturating_sub(count.told) < TALLY {
            return None;
        }
        count.told = now;
        Some(std::mem::take(&mut count.others)).filter(|others| *others > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_a_second_are_recorded_and_the_others_counted_once_a_minute() {
        let strangers = Strangers::default();
        let at = |millis| Duration::from_millis(millis);
        let admitted = |from| {
            (0..50_u64)
                .filter(|i| strangers.admit(at(from + i)))
                .count()
        };
        assert_eq!(admitted(60_000), 20);
        assert_eq!(strangers.tally(at(60_100), false), Some(30));
        assert_eq!(admitted(61_000), 20);
        assert_eq!(strangers.tally(at(120_099), false), None);
        assert_eq!(strangers.tally(at(120_100), false), Some(30));
        assert_eq!(strangers.tally(at(180_100), false), None);
        assert_eq!(admitted(181_000), 20);
        assert_eq!(strangers.tally(at(181_001), true), Some(30));
    }
}
