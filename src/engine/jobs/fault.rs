//! Fault points, which end jobs in tests.
//!
//! Only the tests of the program enable the feature `fault-points`, as a dev-dependency. Cargo does not
//! enable features of dev-dependencies in a build of the program; `tests/it/packaging/features.rs`
//! tests this.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::job::Job;

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It panics.
    Panic,
    /// It returns.
    Return,
}

/// The jobs that end.
#[derive(Debug, Default)]
pub(super) struct Faults {
    armed: Mutex<HashMap<Job, End>>,
    changed: Notify,
}

impl Faults {
    /// Ends a job now and each time that it starts, until [`Self::disarm`].
    pub(super) fn arm(&self, job: Job, end: End) {
        self.armed().insert(job, end);
        self.changed.notify_waiters();
    }

    /// Lets a job run again.
    pub(super) fn disarm(&self, job: Job) {
        self.armed().remove(&job);
    }

    /// Resolves when the job shall end.
    async fn fires(&self, job: Job) -> End {
        loop {
            let changed = self.changed.notified();
            if let Some(end) = self.armed().get(&job) {
                return *end;
            }
            changed.await;
        }
    }

    fn armed(&self) -> std::sync::MutexGuard<'_, HashMap<Job, End>> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of a job, which ends as a test wants it.
#[expect(clippy::panic, reason = "the fault of a test")]
pub(super) async fn point(faults: &Faults, job: Job, work: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        end = faults.fires(job) => match end {
            End::Panic => panic!("on purpose"),
            End::Return => {}
        },
        () = work => {}
    }
}
