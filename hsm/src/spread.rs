//! How values spread, counted between fixed bounds: cheap enough for every operation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The bounds of times, in microseconds.
pub const TIMES: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// Counts values without a lock. A value counts at the first bound that it does not exceed.
#[derive(Debug)]
pub struct Spread<const N: usize> {
    bounds: [u64; N],
    counts: [AtomicU64; N],
    beyond: AtomicU64,
    sum: AtomicU64,
}

/// What a [`Spread`] has counted so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<const N: usize> {
    /// Each bound, and how many values lie between it and the one before.
    pub within: [(u64, u64); N],
    /// How many exceed all bounds.
    pub beyond: u64,
    /// All values together.
    pub sum: u64,
}

impl<const N: usize> Spread<N> {
    /// Nothing yet, between bounds that rise.
    #[must_use]
    pub const fn new(bounds: [u64; N]) -> Self {
        Self {
            bounds,
            counts: [const { AtomicU64::new(0) }; N],
            beyond: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a value.
    pub fn add(&self, value: u64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        let count = self.counts.get(place).unwrap_or(&self.beyond);
        count.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// Counts a time, in microseconds.
    pub fn time(&self, time: Duration) {
        self.add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// What has been counted so far. Values that are being counted may show in part.
    #[must_use]
    pub fn read(&self) -> Counted<N> {
        let mut within = self.bounds.map(|bound| (bound, 0));
        for ((_, seen), count) in within.iter_mut().zip(&self.counts) {
            *seen = count.load(Ordering::Relaxed);
        }
        Counted {
            within,
            beyond: self.beyond.load(Ordering::Relaxed),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl<const N: usize> Counted<N> {
    /// How many values there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.within.iter().map(|(_, count)| count).sum::<u64>() + self.beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_at_the_first_bound_that_it_does_not_exceed() {
        let spread = Spread::new([10, 20, 40]);
        for value in [0, 10, 11, 40, 41, 1_000] {
            spread.add(value);
        }
        let counted = spread.read();
        assert_eq!(counted.within, [(10, 2), (20, 1), (40, 1)]);
        assert_eq!((counted.beyond, counted.sum), (2, 1_102));
        assert_eq!(counted.total(), 6);
    }

    #[test]
    fn times_are_counted_in_microseconds() {
        let spread = Spread::new(TIMES);
        spread.time(Duration::from_millis(1));
        spread.time(Duration::from_secs(60));
        let counted = spread.read();
        assert_eq!(counted.within[3], (1_000, 1));
        assert_eq!((counted.beyond, counted.sum), (1, 60_001_000));
    }
}
