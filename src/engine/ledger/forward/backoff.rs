//! The delay before a collector that failed is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// A delay that doubles with each failure.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    delay: Duration,
    due: Duration,
}

impl Backoff {
    /// Whether the next attempt is due at this monotonic time.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        now >= self.due
    }

    pub(super) fn fail(&mut self, now: Duration) {
        self.delay = (self.delay * 2).clamp(FIRST, LONGEST);
        self.due = now + self.delay;
    }

    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_a_minute() {
        let (mut backoff, mut now) = (Backoff::default(), Duration::ZERO);
        assert!(backoff.is_due(now));
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            backoff.fail(now);
            let delay = Duration::from_secs(seconds);
            assert!(!backoff.is_due(now + delay - Duration::from_millis(1)));
            assert!(backoff.is_due(now + delay), "{seconds}");
            now += delay;
        }
        backoff.reset();
        assert!(backoff.is_due(Duration::ZERO));
    }
}
