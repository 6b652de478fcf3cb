//! The bounded queue before one token's workers.
//!
//! Two lanes: reads go to any free worker; writes to at most one at a time, because tokens do not
//! bear writes side by side, and because waiting writes must not hold up the reads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::job::{Job, Kind};
use crate::{ErrorKind, HsmError};

#[derive(Debug)]
pub(crate) struct Queue {
    bound: usize,
    inner: Mutex<Inner>,
    bell: Condvar,
}

#[derive(Debug)]
struct Inner {
    gate: Gate,
    reads: VecDeque<Job>,
    writes: VecDeque<Job>,
    writing: bool,
    last_write_ended: Option<Instant>,
    /// Counts changes of the gate, so that a waiting worker notices each.
    changes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Jobs are taken.
    Open,
    /// The token is out: jobs are refused at once.
    Shut,
    /// Nothing is taken any more; what is queued is still worked off.
    Closing,
}

/// What a worker is to do next.
#[derive(Debug)]
pub(crate) enum Next {
    Work(Job),
    /// Nothing came for as long as the worker was ready to wait.
    Idle,
    /// The token went out or came back: look at the session.
    Changed,
    Closed,
}

impl Queue {
    /// A queue that is shut at first.
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            bound,
            inner: Mutex::new(Inner {
                gate: Gate::Shut,
                reads: VecDeque::new(),
                writes: VecDeque::new(),
                writing: false,
                last_write_ended: None,
                changes: 0,
            }),
            bell: Condvar::new(),
        }
    }

    /// Queues a job, or gives it back with the reason why not.
    pub(crate) fn push(&self, job: Job) -> Result<(), (Job, HsmError)> {
        let mut inner = self.lock();
        if inner.gate != Gate::Open {
            return Err((job, HsmError::new(ErrorKind::TokenOut, "the token is out")));
        }
        if inner.reads.len() + inner.writes.len() >= self.bound {
            // Those whose callers have gone take no room from others.
            inner.reads.retain(|job| !job.is_abandoned());
            inner.writes.retain(|job| !job.is_abandoned());
        }
        if inner.reads.len() + inner.writes.len() >= self.bound {
            return Err((job, HsmError::new(ErrorKind::Busy, "the queue is full")));
        }
        match job.kind() {
            Kind::Read => inner.reads.push_back(job),
            Kind::Write => inner.writes.push_back(job),
        }
        self.bell.notify_one();
        Ok(())
    }

    /// The next thing to do for a worker that has seen `changes` changes of the gate.
    /// A write that is handed out must be ended with [`Queue::end_write`].
    pub(crate) fn next(&self, changes: &mut u64, patience: Duration) -> Next {
        let until = Instant::now() + patience;
        let mut inner = self.lock();
        loop {
            if inner.changes != *changes {
                *changes = inner.changes;
                return Next::Changed;
            }
            if inner.gate != Gate::Shut {
                if !inner.writing
                    && let Some(job) = inner.writes.pop_front()
                {
                    inner.writing = true;
                    return Next::Work(job);
                }
                if let Some(job) = inner.reads.pop_front() {
                    return Next::Work(job);
                }
            }
            if inner.gate == Gate::Closing && inner.writes.is_empty() {
                return Next::Closed;
            }
            let now = Instant::now();
            if now >= until {
                return Next::Idle;
            }
            inner = self
                .bell
                .wait_timeout(inner, until - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The write that was handed out has ended, or its worker was given up.
    pub(crate) fn end_write(&self) {
        let mut inner = self.lock();
        inner.writing = false;
        inner.last_write_ended = Some(Instant::now());
        self.bell.notify_all();
    }

    /// Whether a write is under way, and when the last one ended.
    pub(crate) fn writes(&self) -> (bool, Option<Instant>) {
        let inner = self.lock();
        (inner.writing, inner.last_write_ended)
    }

    /// The token serves: take jobs.
    pub(crate) fn open(&self) {
        self.change(Gate::Open);
    }

    /// The token is out: refuse what comes, and give back what waits.
    pub(crate) fn shut(&self) -> Vec<Job> {
        self.change(Gate::Shut);
        let mut inner = self.lock();
        let Inner { reads, writes, .. } = &mut *inner;
        reads.drain(..).chain(writes.drain(..)).collect()
    }

    /// Take nothing any more, and let the workers go once all is worked off.
    pub(crate) fn close(&self) {
        self.change(Gate::Closing);
    }

    /// How many jobs wait.
    pub(crate) fn len(&self) -> usize {
        let inner = self.lock();
        inner.reads.len() + inner.writes.len()
    }

    fn change(&self, gate: Gate) {
        let mut inner = self.lock();
        if inner.gate != Gate::Closing {
            inner.gate = gate;
        }
        inner.changes += 1;
        self.bell.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
