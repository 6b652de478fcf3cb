//! Time and randomness as arguments, so that tests control both.

mod entropy;
#[cfg(feature = "service")]
mod stored;
mod timestamp;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

pub use entropy::Entropy;
pub use timestamp::{NotATime, Timestamp};

/// The system clock, or a clock that a test advances.
#[derive(Clone, Debug)]
pub struct Clock(Hand);

#[derive(Clone, Debug)]
enum Hand {
    System,
    Held(Arc<Held>),
}

/// A clock that a test moves, in milliseconds.
#[derive(Debug)]
struct Held {
    monotonic: AtomicI64,
    /// By how much the time was corrected.
    correction: AtomicI64,
}

impl Clock {
    /// The system clock.
    pub fn system() -> Self {
        Self(Hand::System)
    }

    /// A clock that only [`Clock::advance`] and [`Clock::set_back`] move.
    pub fn held_at(moment: Timestamp) -> Self {
        Self(Hand::Held(Arc::new(Held {
            monotonic: AtomicI64::new(moment.as_millis()),
            correction: AtomicI64::new(0),
        })))
    }

    /// The current time.
    #[allow(clippy::disallowed_methods, reason = "the only use of the system clock")]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Hand::System => Timestamp::from_millis(jiff::Timestamp::now().as_millisecond()),
            Hand::Held(held) => {
                let correction = held.correction.load(Ordering::SeqCst);
                let monotonic = held.monotonic.load(Ordering::SeqCst);
                Timestamp::from_millis(monotonic.saturating_add(correction))
            }
        }
    }

    /// Monotonic time since the start of this process, for durations and for everything that a change of
    /// the system clock must not affect.
    pub fn monotonic(&self) -> Duration {
        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        match &self.0 {
            Hand::System => ORIGIN.elapsed(),
            Hand::Held(held) => {
                let monotonic = held.monotonic.load(Ordering::SeqCst);
                Duration::from_millis(u64::try_from(monotonic).unwrap_or(0))
            }
        }
    }

    /// Advances a test clock. The system clock ignores this.
    pub fn advance(&self, span: Duration) {
        if let Hand::Held(held) = &self.0 {
            let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            held.monotonic.fetch_add(span, Ordering::SeqCst);
        }
    }

    /// Sets a test clock back, as a correction of the system clock does. Monotonic time stays. The system
    /// clock ignores this.
    pub fn set_back(&self, span: Duration) {
        if let Hand::Held(held) = &self.0 {
            let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            held.correction.fetch_sub(span, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_only_moves_explicitly() {
        let clock = Clock::held_at(Timestamp::from_millis(1_000));
        let other = clock.clone();
        clock.advance(Duration::from_millis(234));
        assert_eq!(other.now(), Timestamp::from_millis(1_234));
        assert_eq!(other.now().since(Timestamp::from_millis(9_999)), Duration::ZERO);
        clock.set_back(Duration::from_millis(1_000));
        assert_eq!(other.now(), Timestamp::from_millis(234));
        assert_eq!(other.monotonic(), Duration::from_millis(1_234));
    }
}
