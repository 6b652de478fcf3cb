//! A number of events per second.

use std::time::Duration;

/// Admits at most `MOST` events in each second of the clock.
#[derive(Debug, Default)]
pub(super) struct PerSecond<const MOST: u32> {
    second: u64,
    admitted: u32,
}

impl<const MOST: u32> PerSecond<MOST> {
    /// Whether an event at `now` is admitted.
    pub(super) fn admit(&mut self, now: Duration) -> bool {
        if self.second != now.as_secs() {
            self.second = now.as_secs();
            self.admitted = 0;
        }
        let is_admitted = self.admitted < MOST;
        self.admitted += u32::from(is_admitted);
        is_admitted
    }
}
