//! The interface of the audit log for requests: submit a record, wait for its receipt.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::queue::{Receipt, RecorderState, Submission, Unrecorded, Waiter};
use super::record::Record;
use super::writer::Writer;
use crate::db::Pool;
use crate::meter::Histogram;
use crate::settings::Audit;
use formats::clock::{Clock, Entropy};

/// Accepts records. Clones share one queue and one [`Writer`].
#[derive(Clone)]
pub struct Recorder {
    queue: mpsc::Sender<Submission>,
    shared: Arc<RecorderState>,
}

impl Recorder {
    /// A recorder and its writer, which connects to the server of the pool by itself. Records wait until the
    /// writer runs.
    pub fn open(
        clock: Clock,
        entropy: Entropy,
        database: Pool,
        settings: &Audit,
    ) -> (Self, Writer) {
        let (queue, arriving) = mpsc::channel(settings.queue.max(1));
        let shared = Arc::new(RecorderState::new(clock, entropy, settings.deadline.0));
        let writer = Writer::new(Arc::clone(&shared), arriving, database);
        (Self { queue, shared }, writer)
    }

    /// Whether a record submitted now can be committed. Ask before expensive work.
    pub fn ready(&self) -> Result<(), Unrecorded> {
        if self.queue.is_closed() {
            return Err(Unrecorded::Closed);
        }
        let now = self.shared.clock.monotonic();
        if self.shared.availability.failing_for(now) > self.shared.deadline {
            return Err(Unrecorded::Out);
        }
        if self.queued() >= self.queue.max_capacity() {
            return Err(Unrecorded::Full);
        }
        Ok(())
    }

    /// Submits a record. It is committed whether or not the caller waits for the receipt.
    pub fn submit(&self, record: Record) -> Result<Pending, Unrecorded> {
        self.enqueue(|waiter| self.shared.submission(record, Some(waiter)))
    }

    /// Submits the record of a request over its rate limit: at most 1,000 a second. Half of the
    /// queue is reserved for requests within their limits.
    pub fn submit_over_limit(&self, record: Record) -> Result<Pending, Unrecorded> {
        let is_admitted = || (0..record.rows()).all(|_| self.shared.admit_over_limit());
        if self.is_crowded() || !is_admitted() {
            return Err(Unrecorded::Full);
        }
        self.submit(record)
    }

    /// Submits the records of a request with several items. They are committed together, or none of
    /// them is.
    pub(crate) fn submit_batch(&self, records: Vec<Record>) -> Result<Pending, Unrecorded> {
        self.enqueue(|waiter| self.shared.batch(records, waiter))
    }

    fn enqueue(
        &self,
        submission: impl FnOnce(Waiter) -> Submission,
    ) -> Result<Pending, Unrecorded> {
        self.ready()?;
        let (waiter, receipt) = oneshot::channel();
        self.send(submission(waiter))?;
        Ok(Pending { receipt, deadline: self.shared.deadline })
    }

    /// Records an unauthenticated request: at most 20 a second one by one, the others as a count.
    /// It never waits, and half of the queue is reserved for authenticated callers.
    pub fn submit_anonymous(&self, record: Record) {
        let anonymous = &self.shared.anonymous;
        let refusal = record.refusal();
        let now = self.shared.clock.monotonic();
        if !(0..record.rows()).all(|_| anonymous.admit(now, refusal)) {
            return;
        }
        if self.is_crowded() || self.send(self.shared.submission(record, None)).is_err() {
            anonymous.count(refusal);
        }
    }

    /// Sends a submission and counts its records. The writer subtracts them.
    fn send(&self, submission: Submission) -> Result<(), Unrecorded> {
        let further = submission.records().len().saturating_sub(1);
        if further > 0 {
            self.shared.further.fetch_add(further, Ordering::Relaxed);
        }
        self.queue.try_send(submission).map_err(|refused| {
            self.shared.further.fetch_sub(further, Ordering::Relaxed);
            match refused {
                TrySendError::Full(_) => Unrecorded::Full,
                TrySendError::Closed(_) => Unrecorded::Closed,
            }
        })
    }

    /// Whether more than half of the queue is used.
    fn is_crowded(&self) -> bool {
        self.queued() > self.queue.max_capacity() / 2
    }

    /// How many records wait for the next batch.
    pub fn queued(&self) -> usize {
        let submissions = self.queue.max_capacity() - self.queue.capacity();
        submissions + self.shared.further.load(Ordering::Relaxed)
    }

    /// How long records took from submission to commit, in seconds.
    pub fn commit_durations(&self) -> &Histogram {
        &self.shared.commit_durations
    }

    /// How many records were committed together.
    pub fn batch_sizes(&self) -> &Histogram {
        &self.shared.batch_sizes
    }

    /// How many payloads left unprotected, under inactive policies with the failure mode
    /// `passthrough`.
    pub fn passed_through(&self) -> u64 {
        self.shared.passed_through.load(Ordering::Relaxed)
    }

    /// Whether the last write, or the last check that writing would work, succeeded. None if both are too
    /// long ago.
    pub fn is_healthy(&self) -> Option<bool> {
        let (availability, now) = (&self.shared.availability, self.shared.clock.monotonic());
        if self.queue.is_closed() {
            return Some(false);
        }
        let is_known = availability.age(now) <= self.shared.period;
        is_known.then(|| availability.failing_for(now).is_zero())
    }
}

/// A record that was submitted and may not be committed yet.
#[derive(Debug)]
#[must_use = "only the receipt proves that the record is committed"]
pub struct Pending {
    receipt: oneshot::Receiver<Result<Receipt, Unrecorded>>,
    deadline: Duration,
}

impl Pending {
    /// Waits for the commit. Dropping this future does not withdraw the record.
    pub async fn receipt(self) -> Result<Receipt, Unrecorded> {
        match tokio::time::timeout(self.deadline, self.receipt).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Unrecorded::Closed),
            Err(_) => Err(Unrecorded::Late),
        }
    }
}
