//! What has happened on one token, counted.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Counters;

/// The live form of [`Counters`].
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) operations: Count,
    pub(crate) failures: Count,
    pub(crate) busy: Count,
    pub(crate) late: Count,
    pub(crate) abandoned: Count,
    pub(crate) finds: Count,
    pub(crate) sessions_opened: Count,
    pub(crate) logins: Count,
    pub(crate) outages: Count,
}

#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Tally {
    pub(crate) fn read(&self) -> Counters {
        Counters {
            operations: self.operations.get(),
            failures: self.failures.get(),
            busy: self.busy.get(),
            late: self.late.get(),
            abandoned: self.abandoned.get(),
            finds: self.finds.get(),
            sessions_opened: self.sessions_opened.get(),
            logins: self.logins.get(),
            outages: self.outages.get(),
        }
    }
}
