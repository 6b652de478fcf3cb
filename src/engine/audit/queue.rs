//! The records that wait to be committed, and the state that the recorder and the writer share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::anonymous::AnonymousLimit;
use super::outcome::{Outcome, RefusedAnswer};
use super::per_second::PerSecond;
use super::record::Record;
use crate::ids::RecordId;
use crate::jobs::Job;
use crate::meter::{Histogram, durations};
use formats::clock::{Clock, Entropy, Timestamp};

/// The upper bounds of batches, in records.
const SIZES: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// The maximum number of records a second of requests over their rate limits.
const OVER_LIMIT_PER_SECOND: u32 = 1_000;

/// The state that the recorder and the writer share.
pub(super) struct RecorderState {
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    pub(super) deadline: Duration,
    pub(super) anonymous: AnonymousLimit<RefusedAnswer>,
    over_limit: Mutex<PerSecond<OVER_LIMIT_PER_SECOND>>,
    pub(super) availability: Availability,
    /// The time after which the last state of the writer is unknown.
    pub(super) period: Duration,
    pub(super) commit_durations: Histogram,
    pub(super) batch_sizes: Histogram,
    /// How many payloads left unprotected.
    pub(super) passed_through: AtomicU64,
    /// The number of queued records, without the first of each submission.
    pub(super) further: AtomicUsize,
}

/// Records in the queue. They are committed together, or none of them is.
#[derive(Debug)]
pub(super) struct Submission {
    records: SubmittedRecords,
    /// When they were submitted, on the monotonic clock.
    at: Duration,
    waiter: Option<Waiter>,
}

/// Receives the outcome of a submission.
pub(super) type Waiter = oneshot::Sender<Result<Receipt, Unrecorded>>;

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one record needs no allocation")]
enum SubmittedRecords {
    One(QueuedRecord),
    Several(Vec<QueuedRecord>),
}

/// A record in the queue. Its id and time stay the same over all attempts to write it.
#[derive(Debug)]
pub(super) struct QueuedRecord {
    pub(super) id: RecordId,
    pub(super) ts: Timestamp,
    pub(super) took: Duration,
    pub(super) record: Record,
}

/// The values of columns whose types have smaller bounds.
impl QueuedRecord {
    pub(super) fn payload_size(&self) -> i64 {
        i64::try_from(self.record.payload_size_bytes).unwrap_or(i64::MAX)
    }

    pub(super) fn status(&self) -> i16 {
        i16::try_from(self.record.response_status).unwrap_or(i16::MAX)
    }

    pub(super) fn item(&self) -> Option<i16> {
        self.record.item.and_then(|item| i16::try_from(item).ok())
    }

    pub(super) fn milliseconds(&self) -> f32 {
        self.took.as_secs_f32() * 1_000.0
    }
}

/// The proof that the records of a request are committed. Only the writer makes one.
#[derive(Debug)]
pub struct Receipt(());

/// A record has no receipt, so the only answer is "not available".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecorded {
    /// The queue is full.
    #[error("too many audit records wait to be committed")]
    Full,
    /// The commit exceeded the deadline. It may still succeed.
    #[error("the audit record was not committed in time")]
    Late,
    /// The database has accepted no records for longer than the deadline.
    #[error("the audit log is not available")]
    Out,
    /// The database accepts other records, but not this one.
    #[error("the database refuses this audit record")]
    Refused,
    /// The process is stopping.
    #[error("the audit log is closed")]
    Closed,
}

impl RecorderState {
    pub(super) fn new(clock: Clock, entropy: Entropy, deadline: Duration) -> Self {
        let spec = Job::AuditWriter.spec().every(deadline * 3);
        Self {
            availability: Availability::starting(clock.monotonic()),
            period: spec.period(),
            anonymous: AnonymousLimit::new(clock.monotonic()),
            clock,
            entropy,
            deadline,
            over_limit: Mutex::default(),
            commit_durations: durations(),
            batch_sizes: Histogram::new(SIZES),
            passed_through: AtomicU64::new(0),
            further: AtomicUsize::new(0),
        }
    }

    /// Whether the record of another request over its rate limit is admitted in this second.
    pub(super) fn admit_over_limit(&self) -> bool {
        let mut admitted = self.over_limit.lock().unwrap_or_else(PoisonError::into_inner);
        admitted.admit(self.clock.monotonic())
    }

    /// One record, or the two of a rewrap.
    pub(super) fn submission(&self, mut record: Record, waiter: Option<Waiter>) -> Submission {
        let at = self.clock.monotonic();
        let sealing = record.split_sealing();
        let opening = self.queued(record, at);
        let records = match sealing {
            None => SubmittedRecords::One(opening),
            Some(sealing) => SubmittedRecords::Several(vec![opening, self.queued(sealing, at)]),
        };
        Submission { records, at, waiter }
    }

    /// The records of a request with several items.
    pub(super) fn batch(&self, records: Vec<Record>, waiter: Waiter) -> Submission {
        let at = self.clock.monotonic();
        let mut queued = Vec::with_capacity(records.len() * 2);
        for mut record in records {
            let sealing = record.split_sealing();
            queued.push(self.queued(record, at));
            queued.extend(sealing.map(|sealing| self.queued(sealing, at)));
        }
        Submission { records: SubmittedRecords::Several(queued), at, waiter: Some(waiter) }
    }

    fn queued(&self, record: Record, at: Duration) -> QueuedRecord {
        let id = RecordId::new(&self.clock, &self.entropy);
        QueuedRecord {
            id,
            ts: id.created_at(),
            took: at.saturating_sub(record.arrived),
            record: record.cleaned(),
        }
    }

    /// Counts submissions that were just committed and sends the receipts.
    pub(super) fn committed(&self, submissions: Vec<Submission>) {
        let now = self.clock.monotonic();
        let size = u32::try_from(count(&submissions)).unwrap_or(u32::MAX);
        self.batch_sizes.observe(f64::from(size));
        for submission in submissions {
            for queued in submission.records() {
                if queued.record.outcome == Outcome::PassedThrough {
                    self.passed_through.fetch_add(1, Ordering::Relaxed);
                }
            }
            let took = now.saturating_sub(submission.at);
            self.commit_durations.observe(took.as_secs_f64());
            submission.answer(Ok(Receipt(())));
        }
    }
}

/// The number of records in `submissions`.
pub(super) fn count(submissions: &[Submission]) -> usize {
    submissions.iter().map(|submission| submission.records().len()).sum()
}

impl Submission {
    pub(super) fn records(&self) -> &[QueuedRecord] {
        match &self.records {
            SubmittedRecords::One(record) => std::slice::from_ref(record),
            SubmittedRecords::Several(records) => records,
        }
    }

    pub(super) fn answer(self, outcome: Result<Receipt, Unrecorded>) {
        if let Some(waiter) = self.waiter {
            // The request may have ended. The record remains committed.
            let _ = waiter.send(outcome);
        }
    }
}

/// Whether writing works. Times are on the monotonic clock, in microseconds.
#[derive(Debug)]
pub(super) struct Availability {
    /// Since when writing fails; zero while it works.
    failing_since: AtomicU64,
    /// The last time that the writer knew.
    known_at: AtomicU64,
}

impl Availability {
    /// Until the first attempt, writing counts as working.
    pub(super) fn starting(now: Duration) -> Self {
        Self { failing_since: AtomicU64::new(0), known_at: AtomicU64::new(micros(now)) }
    }

    pub(super) fn succeeds(&self, now: Duration) {
        self.known_at.store(micros(now), Ordering::Relaxed);
        self.failing_since.store(0, Ordering::Relaxed);
    }

    pub(super) fn fails(&self, now: Duration) {
        self.known_at.store(micros(now), Ordering::Relaxed);
        let since = &self.failing_since;
        let _ = since.compare_exchange(0, micros(now).max(1), Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(super) fn failing_for(&self, now: Duration) -> Duration {
        match self.failing_since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => now.saturating_sub(Duration::from_micros(since)).max(Duration::from_micros(1)),
        }
    }

    /// How long ago the writer knew whether writing works.
    pub(super) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_micros(self.known_at.load(Ordering::Relaxed)))
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn availability_keeps_the_first_failure_until_a_success() {
        let at = Duration::from_secs;
        let availability = Availability::starting(at(2));
        assert_eq!(availability.failing_for(at(3)), Duration::ZERO);
        availability.fails(at(3));
        availability.fails(at(4));
        assert_eq!(availability.failing_for(at(5)), at(2));
        assert!(availability.failing_for(at(3)) > Duration::ZERO);
        availability.succeeds(at(6));
        assert_eq!(availability.failing_for(at(9)), Duration::ZERO);
        assert_eq!(availability.age(at(9)), at(3));
    }
}
