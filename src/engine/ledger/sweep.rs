//! The search for committed segments without a position in their log, and for records without a segment.
//!
//! Both become visible when their transaction commits, which can be long after their time. Therefore
//! sweeps pass over them in the order of time, again and again, a part at a time.

use std::time::Duration;

use uuid::Uuid;

use super::store::RecordKey;
use formats::clock::Timestamp;

/// How far the clock of an instance can be ahead of that of the database.
pub(super) const AHEAD: Duration = Duration::from_secs(60);

/// A sweep over a window of time.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The window before the present; none for all of time.
    window: Option<Duration>,
    /// The last record or segment that it has read.
    after: Option<RecordKey>,
    /// Whether it has reached the present since it started.
    is_complete: bool,
}

impl Sweep {
    pub(super) const fn new(window: Option<Duration>) -> Self {
        Self { window, after: None, is_complete: false }
    }

    /// A sweep over all of time. At first it passes over what is before this time.
    pub(super) fn of_all(after: Option<Timestamp>) -> Self {
        let after = after.map(|ts| RecordKey { ts, id: Uuid::nil() });
        Self { window: None, after, is_complete: false }
    }

    /// The place of the next step.
    pub(super) fn place(&self, now: Timestamp) -> RecordKey {
        let ts = self.window.map_or(Timestamp::from_millis(0), |window| now.minus(window));
        let start = RecordKey { ts, id: Uuid::nil() };
        self.after.unwrap_or(start).max(start)
    }

    /// The end of the sweep. One over a window ends soon after the present, so that segments of the future, which no
    /// instance with a right clock writes, do not delay those of the present.
    pub(super) fn end(&self, now: Timestamp) -> Uuid {
        match self.window {
            Some(_) => RecordKey { ts: now.plus(AHEAD), id: Uuid::nil() }.first_id(),
            None => Uuid::max(),
        }
    }

    /// Continues after the end of a step, or starts again after the last one, which has none. Returns whether it was
    /// the last one.
    pub(super) fn advance(&mut self, end: Option<RecordKey>) -> bool {
        self.after = end;
        self.is_complete |= end.is_none();
        end.is_none()
    }

    pub(super) fn restart(&mut self) {
        self.after = None;
        self.is_complete = false;
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_over_a_window_ends_soon_after_the_present() {
        let now = Timestamp::from_millis(1_000_000_000_000);
        let millis = |sweep: &Sweep| sweep.end(now).as_u128() >> 80;
        let window = Sweep::new(Some(Duration::from_secs(10)));
        assert_eq!(millis(&window), 1_000_000_060_000);
        assert_eq!(Sweep::new(None).end(now), Uuid::max());
    }

    #[test]
    fn a_sweep_over_all_of_time_starts_at_the_newest_segment_and_then_at_the_oldest() {
        let now = Timestamp::from_millis(1_000_000_000_000);
        let mut sweep = Sweep::of_all(Some(now));
        assert_eq!(sweep.place(now).ts, now);
        sweep.advance(None);
        assert_eq!(sweep.place(now).ts, Timestamp::from_millis(0));
    }
}
