//! The search for committed records without a position in their log.
//!
//! A record becomes visible when its transaction commits, which can be long after the time of the
//! record. Therefore three sweeps pass over the records in the order of time, again and again: over
//! the last seconds at once, over the last minutes and over all records a part at a time.

use std::time::Duration;

use uuid::Uuid;

use super::store::{RecordKey, Slice};
use formats::clock::Timestamp;

/// The number of records that a step of a sweep reads.
pub(super) const STEP: i64 = 5_000;

/// A sweep over the records of a window of time.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The window before the present; none for all records.
    window: Option<Duration>,
    /// The last record that it has read.
    after: Option<RecordKey>,
    /// Whether it has reached the present since it started.
    is_complete: bool,
}

impl Sweep {
    pub(super) const fn new(window: Option<Duration>) -> Self {
        Self { window, after: None, is_complete: false }
    }

    /// The place of the next step.
    pub(super) fn place(&self, now: Timestamp) -> RecordKey {
        let ts = self.window.map_or(Timestamp::from_millis(0), |window| now.minus(window));
        let start = RecordKey { ts, id: Uuid::nil() };
        self.after.unwrap_or(start).max(start)
    }

    /// Continues after a step, or starts again after the last one. Returns whether it was the last one.
    pub(super) fn advance(&mut self, step: &Slice) -> bool {
        self.after = step.end;
        self.is_complete |= step.end.is_none();
        step.end.is_none()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }
}
