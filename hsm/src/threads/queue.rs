//! The bounded queue of one token's workers.
//!
//! Any free worker takes a read. At most one write runs at a time, because tokens do not support
//! concurrent writes, and queued writes do not delay reads. Reads and writes wait in lanes, which
//! take turns: a caller's burst delays its own operations first. When the reads or the writes are
//! too many, their longest lane gives up its newest job for a job of a shorter lane: neither keeps
//! the others out. A lane has no share of the sessions: a caller that is alone can use all of them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::job::{Access, Job};
use crate::{ErrorKind, HsmError};
use formats::turns::Turns;

/// The most writes that wait. Each can take minutes.
const WRITES: usize = 64;

#[derive(Debug)]
pub(crate) struct Queue {
    bound: usize,
    inner: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug)]
struct QueueState {
    gate: Gate,
    reads: Turns<u64, Job>,
    writes: Turns<u64, Job>,
    writing: bool,
    last_write_ended: Option<Instant>,
    /// How many workers wait for a job.
    idle: usize,
    /// How many workers wait, with those that take no work.
    waiting: usize,
    /// Counts changes of the gate, so that each worker notices every change.
    changes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Jobs are accepted.
    Open,
    /// The token is out: jobs are refused.
    Shut,
    /// Jobs are refused; those in the queue still run.
    Closing,
}

/// The next step of a worker.
#[derive(Debug)]
pub(super) enum Next {
    Work(Job),
    /// No job came within the worker's time limit.
    Idle,
    /// The token went out or came back.
    Changed,
    Closed,
}

impl Queue {
    /// An empty queue that is shut.
    pub(super) fn new(bound: usize) -> Self {
        Self {
            bound,
            inner: Mutex::new(QueueState {
                gate: Gate::Shut,
                reads: Turns::default(),
                writes: Turns::default(),
                writing: false,
                last_write_ended: None,
                idle: 0,
                waiting: 0,
                changes: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// Queues a job and returns the job that it displaced, if any.
    pub(crate) fn push(&self, job: Job) -> Result<Option<Job>, HsmError> {
        let mut inner = self.lock();
        if inner.gate != Gate::Open {
            return Err(HsmError::new(ErrorKind::TokenOut, "the token is unavailable"));
        }
        let mut displaced = None;
        let bound = match job.kind() {
            Access::Read => self.bound,
            Access::Write | Access::Probe => self.bound.min(WRITES),
        };
        if inner.lanes(job.kind()).len() >= bound {
            inner.lanes(job.kind()).retain(|job| !job.is_abandoned());
        }
        if inner.lanes(job.kind()).len() >= bound {
            displaced = inner.lanes(job.kind()).displace_for(job.lane());
            if displaced.is_none() {
                return Err(HsmError::queue_full());
            }
        }
        inner.lanes(job.kind()).push(job.lane(), job);
        // A busy worker takes the job when it is free, without a system call here.
        if inner.idle > 0 {
            match inner.waiting > inner.idle {
                // Some of those that wait take no work.
                true => self.changed.notify_all(),
                false => self.changed.notify_one(),
            }
        }
        Ok(displaced)
    }

    /// The next step for a worker that has seen `changes` changes of the gate. The worker ends a
    /// write with [`Queue::end_write`]. A worker that takes no work gets some only at the end.
    pub(super) fn next(&self, changes: &mut u64, patience: Duration, takes_work: bool) -> Next {
        let until = Instant::now() + patience;
        let mut inner = self.lock();
        loop {
            if inner.changes != *changes {
                *changes = inner.changes;
                return Next::Changed;
            }
            if inner.gate == Gate::Closing || (takes_work && inner.gate == Gate::Open) {
                if !inner.writing
                    && let Some(job) = inner.writes.pop()
                {
                    inner.writing = true;
                    return Next::Work(job);
                }
                if let Some(job) = inner.reads.pop() {
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
            inner.waiting += 1;
            inner.idle += usize::from(takes_work);
            inner = self
                .changed
                .wait_timeout(inner, until - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            inner.waiting -= 1;
            inner.idle -= usize::from(takes_work);
        }
    }

    /// The write has ended, or its worker was abandoned.
    pub(super) fn end_write(&self) {
        let mut inner = self.lock();
        inner.writing = false;
        inner.last_write_ended = Some(Instant::now());
        self.changed.notify_all();
    }

    /// Whether a write runs, and when the last one ended.
    pub(super) fn writes(&self) -> (bool, Option<Instant>) {
        let inner = self.lock();
        (inner.writing, inner.last_write_ended)
    }

    /// Accepts jobs from now on.
    pub(super) fn open(&self) {
        self.change(Gate::Open);
    }

    /// Refuses jobs from now on, and returns the queued ones.
    pub(super) fn shut(&self) -> Vec<Job> {
        self.change(Gate::Shut);
        let mut inner = self.lock();
        let (mut reads, mut writes) =
            (std::mem::take(&mut inner.reads), std::mem::take(&mut inner.writes));
        let jobs = std::iter::from_fn(|| reads.pop().or_else(|| writes.pop()));
        jobs.collect()
    }

    /// Refuses jobs from now on, and ends the workers once the queue is empty.
    pub(super) fn close(&self) {
        self.change(Gate::Closing);
    }

    /// How many jobs wait.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn change(&self, gate: Gate) {
        let mut inner = self.lock();
        if inner.gate != Gate::Closing {
            inner.gate = gate;
        }
        inner.changes += 1;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn len(&self) -> usize {
        self.reads.len() + self.writes.len()
    }

    fn lanes(&mut self, kind: Access) -> &mut Turns<u64, Job> {
        match kind {
            Access::Read => &mut self.reads,
            Access::Write | Access::Probe => &mut self.writes,
        }
    }
}

#[cfg(test)]
mod tests;
