//! What has happened on one token, counted.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Counters, Spread, TIMES};

/// The live form of [`Counters`].
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) operations: Count,
    pub(crate) failures: Count,
    pub(crate) busy: Count,
    pub(crate) late: Count,
    pub(crate) abandoned: Count,
    pub(crate) waited: Spread<{ TIMES.len() }>,
    pub(crate) worked: Spread<{ TIMES.len() }>,
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

impl Default for Tally {
    fn default() -> Self {
        Self {
            operations: Count::default(),
            failures: Count::default(),
            busy: Count::default(),
            late: Count::default(),
            abandoned: Count::default(),
            waited: Spread::new(TIMES),
            worked: Spread::new(TIMES),
            finds: Count::default(),
            sessions_opened: Count::default(),
            logins: Count::default(),
            outages: Count::default(),
        }
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
            waited: self.waited.read(),
            worked: self.worked.read(),
            finds: self.finds.get(),
            sessions_opened: self.sessions_opened.get(),
            logins: self.logins.get(),
            outages: self.outages.get(),
        }
    }
}
