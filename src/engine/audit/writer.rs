//! The audit writer commits records in batches. Records that arrive during a commit form the next
//! batch: one statement, one flush, and never more than one batch in flight.
//!
//! What the writer has taken from the queue is part of its state, which outlives the task that runs it.
//! If the task ends in the middle, the next one goes on: a batch whose outcome is unknown is written again
//! as after a lost connection, so that no record is lost and none is written twice.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};

use super::link::{HEARTBEAT, Link};
use super::queue::{RecorderState, Submission, Unrecorded, count};
use super::record::Record;
use super::store::NotWritten;
use crate::db::Pool;
use crate::jobs::{Job, Pulse, Spec};

/// The most submissions in one statement.
const MAX_BATCH: usize = 512;

/// How often a batch yields to the runtime to let more records arrive.
const YIELDS: usize = 8;

/// The wait between attempts: it starts here and doubles up to the limit.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_millis(500);

/// How often the writer may end while it writes one submission. Such a submission would stop all later
/// ones.
const MOST_ENDS: u32 = 3;

/// Commits the records of a recorder.
pub struct Writer {
    link: Link,
    queue: mpsc::Receiver<Submission>,
    /// Submissions that have left the queue, for the next batch.
    taken: Vec<Submission>,
    /// Batches to commit, the next one last.
    parts: Vec<Part>,
}

/// Submissions that are committed together.
#[derive(Debug)]
struct Part {
    submissions: Vec<Submission>,
    /// Whether an attempt had an unknown outcome: from then on, insert only what is missing.
    again: bool,
    /// Whether an attempt has begun and not returned.
    in_flight: bool,
    /// How often the writer ended in an attempt with this submission alone.
    ends: u32,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<RecorderState>,
        queue: mpsc::Receiver<Submission>,
        database: Pool,
    ) -> Self {
        let link = Link::new(shared, database);
        Self { link, queue, taken: Vec::with_capacity(MAX_BATCH), parts: Vec::new() }
    }

    /// What the job is held to.
    pub fn spec(&self) -> Spec {
        Job::AuditWriter.spec().every(self.link.shared.period)
    }

    /// Writes records until the job shall end. Then it accepts no more records, and commits those in the
    /// queue.
    pub async fn run(&mut self, pulse: Pulse) {
        self.go_on();
        self.commit(&pulse).await;
        let mut heartbeat = heartbeat();
        loop {
            tokio::select! {
                biased;
                () = pulse.ending(), if !self.queue.is_closed() => self.queue.close(),
                _ = heartbeat.tick() => {
                    self.summarize_anonymous(false, &pulse).await;
                    self.link.check().await;
                    pulse.succeeded();
                    // However long that took, records come before the next heartbeat.
                    heartbeat.reset();
                }
                taken = self.queue.recv_many(&mut self.taken, MAX_BATCH) => {
                    if taken == 0 {
                        break;
                    }
                    // Requests that are about to submit join this batch: no timer, but yields for
                    // as long as each of them brings more records.
                    for _ in 0..YIELDS {
                        let before = self.taken.len();
                        yield_now().await;
                        gather(&mut self.queue, &mut self.taken);
                        if self.taken.len() == before {
                            break;
                        }
                    }
                    self.make_part();
                    self.commit(&pulse).await;
                    // The commit replaces the check of the heartbeat.
                    self.summarize_anonymous(false, &pulse).await;
                    heartbeat.reset();
                }
            }
        }
        self.summarize_anonymous(true, &pulse).await;
    }

    /// Takes up what a former run left. A batch in flight is written again, one submission at a time, so that
    /// one that ends the writer does not keep the others from being written.
    fn go_on(&mut self) {
        // The state of the connection is unknown.
        self.link.close();
        let mut parts = mem::take(&mut self.parts);
        if let Some(broken_off) = parts.pop_if(|part| part.in_flight) {
            let is_alone = broken_off.submissions.len() == 1;
            let ends = broken_off.ends + u32::from(is_alone);
            let again = broken_off.submissions.into_iter().map(|submission| Part {
                submissions: vec![submission],
                again: true,
                in_flight: false,
                ends,
            });
            parts.extend(again);
        }
        self.parts = parts;
        if !self.taken.is_empty() {
            self.make_part();
        }
    }

    /// Makes a batch of the submissions that have left the queue.
    fn make_part(&mut self) {
        self.link.shared.took(&self.taken);
        let submissions = mem::replace(&mut self.taken, Vec::with_capacity(MAX_BATCH));
        self.parts.insert(0, Part::new(submissions));
    }

    /// Commits all batches, however long it takes. A batch that fails for its data is halved, but no
    /// submission is split.
    async fn commit(&mut self, pulse: &Pulse) {
        let shared = Arc::clone(&self.link.shared);
        let mut wait = FIRST_WAIT;
        while let Some(part) = self.parts.last_mut() {
            if part.ends >= MOST_ENDS {
                tracing::error!(
                    ends = part.ends,
                    "an audit record ends the audit writer: this is a bug"
                );
                refuse(self.parts.pop(), "the audit writer cannot write it");
                continue;
            }
            part.in_flight = true;
            let outcome = self.link.insert(&part.submissions, part.again).await;
            part.in_flight = false;
            pulse.alive();
            match outcome {
                Ok(()) => {
                    shared.availability.succeeds(shared.clock.monotonic());
                    if let Some(part) = self.parts.pop() {
                        shared.committed(part.submissions);
                    }
                }
                Err(NotWritten::NoDay | NotWritten::Data(_)) if part.submissions.len() > 1 => {
                    let again = part.again;
                    let half = part.submissions.len() / 2;
                    // The first half is written first.
                    let rest = part.submissions.split_off(half);
                    let first = mem::replace(&mut part.submissions, rest);
                    self.parts.push(Part { again, ..Part::new(first) });
                }
                Err(failure @ (NotWritten::NoDay | NotWritten::Data(_))) => {
                    refuse(self.parts.pop(), &failure);
                }
                Err(failure @ NotWritten::Away(_)) => {
                    // So is the outcome of the halves of the batch.
                    for part in &mut self.parts {
                        part.again = true;
                    }
                    self.link.fails(&failure);
                    sleep(wait).await;
                    wait = MAX_WAIT.min(wait * 2);
                }
            }
        }
    }

    /// Records how many unauthenticated requests were only counted.
    async fn summarize_anonymous(&mut self, end: bool, pulse: &Pulse) {
        let now = self.link.shared.clock.monotonic();
        let Some(summary) = self.link.shared.anonymous.summary(now, end) else {
            return;
        };
        let (response_status, error_code, outcome) = summary.refused;
        let record = Record {
            request_id: Box::default(),
            service_id: None,
            credential_id: None,
            token_subject: None,
            operation_type: None,
            endpoint: None,
            policy_number: None,
            key_id: None,
            ctx: None,
            payload_size_bytes: 0,
            response_status,
            arrived: now,
            error_code,
            outcome,
            error_message: Some(
                format!(
                    "{} more requests without valid credentials, not recorded one by one",
                    summary.requests
                )
                .into(),
            ),
            client_address: None,
            item: None,
            sealing: None,
        };
        let submission = self.link.shared.submission(record, None);
        self.parts.push(Part::new(vec![submission]));
        self.commit(pulse).await;
    }
}

impl Part {
    fn new(submissions: Vec<Submission>) -> Self {
        Self { submissions, again: false, in_flight: false, ends: 0 }
    }
}

/// Answers the requests of these records: they cannot be recorded.
fn refuse(part: Option<Part>, failure: &(impl std::fmt::Display + ?Sized)) {
    for refused in part.into_iter().flat_map(|part| part.submissions) {
        for queued in refused.records() {
            tracing::error!(id = %queued.id, %failure, "the database refuses an audit record");
        }
        refused.answer(Err(Unrecorded::Refused));
    }
}

impl RecorderState {
    /// Subtracts the records that have left the queue.
    fn took(&self, submissions: &[Submission]) {
        let further = count(submissions) - submissions.len();
        if further > 0 {
            self.further.fetch_sub(further, Ordering::Relaxed);
        }
    }
}

/// Adds the submissions that have arrived, up to the size of a batch.
fn gather(queue: &mut mpsc::Receiver<Submission>, batch: &mut Vec<Submission>) {
    while batch.len() < MAX_BATCH
        && let Ok(submission) = queue.try_recv()
    {
        batch.push(submission);
    }
}

fn heartbeat() -> Interval {
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat
}
