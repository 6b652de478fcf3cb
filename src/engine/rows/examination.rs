//! When all rows were examined.

use std::time::Duration;

use crate::jobs::{Job, Observed};
use formats::clock::Clock;

/// How often every row is examined.
pub(super) const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Whether every row was examined when it should have been. Clones share it.
#[derive(Clone, Debug)]
pub struct ExaminationStatus(Observed<()>);

impl ExaminationStatus {
    /// The status at the start. The first examination follows.
    pub fn new(clock: Clock) -> Self {
        // An examination can take as long as its job can be silent.
        let silence = Job::Rows.spec().period();
        Self(Observed::starting(clock, silence, INTERVAL + silence, ()))
    }

    /// Whether the last examination of every row, or the start, is recent.
    pub fn is_recent(&self) -> bool {
        self.0.known().is_some()
    }

    /// Every row has been examined.
    pub(super) fn succeeded(&self) {
        self.0.set(());
    }
}
