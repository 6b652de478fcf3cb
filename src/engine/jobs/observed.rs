//! Statuses with the time at which they were true.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;

use formats::clock::Clock;

/// A status that a job keeps current. It is unknown if it is older than its period. Clones share it.
pub struct Observed<T> {
    clock: Clock,
    period: Duration,
    latest: Arc<ArcSwap<Dated<T>>>,
}

struct Dated<T> {
    value: Arc<T>,
    /// When it is unknown, on the monotonic clock.
    until: Duration,
}

impl<T> Observed<T> {
    /// A status that is `value` now.
    pub fn new(clock: Clock, period: Duration, value: T) -> Self {
        Self::starting(clock, period, period, value)
    }

    /// A status that is `value` now, and is unknown if it is not kept current within `first`.
    pub fn starting(clock: Clock, first: Duration, period: Duration, value: T) -> Self {
        let until = clock.monotonic() + first;
        let latest = Arc::new(ArcSwap::from_pointee(Dated { value: Arc::new(value), until }));
        Self { clock, period, latest }
    }

    /// The status; none if it is unknown.
    pub fn known(&self) -> Option<Arc<T>> {
        let latest = self.latest.load();
        (self.clock.monotonic() <= latest.until).then(|| Arc::clone(&latest.value))
    }

    /// The last status, however old it is.
    pub fn last(&self) -> Arc<T> {
        Arc::clone(&self.latest.load().value)
    }

    /// The status is `value` now.
    pub fn set(&self, value: T) {
        let until = self.clock.monotonic() + self.period;
        self.latest.store(Arc::new(Dated { value: Arc::new(value), until }));
    }
}

impl<T> Clone for Observed<T> {
    fn clone(&self) -> Self {
        Self { clock: self.clock.clone(), period: self.period, latest: Arc::clone(&self.latest) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Observed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known();
        f.debug_tuple("Observed").field(&known).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::clock::Timestamp;

    #[test]
    fn a_status_older_than_its_period_is_unknown() {
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        let period = Duration::from_secs(5);
        let status = Observed::new(clock.clone(), period, "starting");
        status.clone().set("works");
        clock.advance(period);
        assert_eq!(status.known().as_deref(), Some(&"works"));
        // A correction of the system clock makes no status old.
        clock.set_back(Duration::from_secs(60));
        assert_eq!(status.known().as_deref(), Some(&"works"));
        clock.advance(Duration::from_millis(1));
        assert_eq!(status.known(), None);
        assert_eq!(*status.last(), "works");
    }

    #[test]
    fn the_first_status_can_have_a_period_of_its_own() {
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        let (first, period) = (Duration::from_secs(1), Duration::from_secs(5));
        let status = Observed::starting(clock.clone(), first, period, "starting");
        clock.advance(first);
        assert_eq!(status.known().as_deref(), Some(&"starting"));
        clock.advance(Duration::from_millis(1));
        assert_eq!(status.known(), None);
        status.set("works");
        clock.advance(period);
        assert_eq!(status.known().as_deref(), Some(&"works"));
    }
}
