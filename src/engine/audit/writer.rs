//! The audit writer commits records in batches. Records that arrive during a commit form the next
//! batch: one statement, one flush, and never more than one batch in flight.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::{ConnectOptions as _, PgConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

use super::queue::{Shared, Submission, Unrecorded, count};
use super::record::Record;
use super::store::{self, Failure};
use crate::db::Pool;

/// The most submissions in one statement.
const MAX_BATCH: usize = 512;

/// How often a batch yields to the runtime to let more records arrive.
const YIELDS: usize = 8;

/// How often an idle writer checks that writing would work, and looks at the anonymous count.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// The wait between attempts: it starts here and doubles up to the limit.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_millis(500);

/// The handle of the writing task.
#[derive(Debug)]
pub struct Writer {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Writer {
    pub(super) fn start(
        shared: Arc<Shared>,
        queue: mpsc::Receiver<Submission>,
        database: Pool,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = Task {
            shared,
            database,
            connection: None,
        };
        Self {
            stop,
            task: tokio::spawn(task.run(queue, stopped)),
        }
    }

    /// Accepts no more records and commits those in the queue. True when all are committed; false
    /// when `limit` elapsed first.
    pub async fn finish(self, limit: Duration) -> bool {
        // A task that has already ended ignores the signal.
        let _ = self.stop.send(());
        let abort = self.task.abort_handle();
        let finished = timeout(limit, self.task).await.is_ok();
        if !finished {
            abort.abort();
            tracing::error!("audit records were lost: they could not be committed before shutdown");
        }
        finished
    }
}

struct Task {
    shared: Arc<Shared>,
    /// Its connection options name the primary, which changes at a failover.
    database: Pool,
    connection: Option<PgConnection>,
}

impl Task {
    async fn run(
        mut self,
        mut queue: mpsc::Receiver<Submission>,
        mut stopped: oneshot::Receiver<()>,
    ) {
        let mut heartbeat = heartbeat();
        let mut batch = Vec::with_capacity(MAX_BATCH);
        loop {
            tokio::select! {
                biased;
                _ = &mut stopped, if !queue.is_closed() => queue.close(),
                _ = heartbeat.tick() => {
                    self.summarize_anonymous(false).await;
                    self.check().await;
                    // However long that took, records come before the next heartbeat.
                    heartbeat.reset();
                }
                taken = queue.recv_many(&mut batch, MAX_BATCH) => {
                    if taken == 0 {
                        break;
                    }
                    // Requests that are about to submit join this batch: no timer, but yields for
                    // as long as each of them brings more records.
                    for _ in 0..YIELDS {
                        let before = batch.len();
                        yield_now().await;
                        gather(&mut queue, &mut batch);
                        if batch.len() == before {
                            break;
                        }
                    }
                    self.shared.took(&batch);
                    self.commit(std::mem::replace(&mut batch, Vec::with_capacity(MAX_BATCH))).await;
                    // The commit replaces the check of the heartbeat.
                    self.summarize_anonymous(false).await;
                    heartbeat.reset();
                }
            }
        }
        self.summarize_anonymous(true).await;
    }

    /// Commits a batch, however long it takes. A batch that fails for its data is halved, but no
    /// submission is split.
    async fn commit(&mut self, batch: Vec<Submission>) {
        let mut parts = vec![batch];
        let mut again = false;
        let mut wait = FIRST_WAIT;
        while let Some(mut part) = parts.pop() {
            match self.attempt(&part, again).await {
                Ok(()) => {
                    self.shared.availability.succeeds();
                    self.shared.committed(part);
                }
                Err(Failure::NoDay | Failure::Data(_)) if part.len() > 1 => {
                    let rest = part.split_off(part.len() / 2);
                    parts.push(rest);
                    parts.push(part);
                }
                Err(failure @ (Failure::NoDay | Failure::Data(_))) => {
                    for refused in part {
                        for queued in refused.records() {
                            tracing::error!(id = %queued.id, %failure, "the database refuses an audit record");
                        }
                        refused.answer(Err(Unrecorded::Refused));
                    }
                }
                Err(failure @ Failure::Away(_)) => {
                    // The outcome is unknown: from now on, insert only what is missing.
                    again = true;
                    self.fails(&failure);
                    parts.push(part);
                    sleep(wait).await;
                    wait = MAX_WAIT.min(wait * 2);
                }
            }
        }
    }

    async fn attempt(&mut self, part: &[Submission], again: bool) -> Result<(), Failure> {
        let deadline = self.shared.deadline;
        let connection = self.connected().await?;
        let written = timeout(deadline, async {
            match store::insert(connection, part, again).await {
                Err(Failure::NoDay) => {
                    let records = part.iter().flat_map(Submission::records);
                    store::make_days(connection, records.map(|queued| queued.ts)).await?;
                    store::insert(connection, part, again).await
                }
                outcome => outcome,
            }
        });
        written.await.unwrap_or_else(|_| Err(store::late()))
    }

    /// Checks that a record could be written now, and keeps the connection alive. A check that takes
    /// longer than a heartbeat counts as a failure until it completes, within the deadline of a
    /// record.
    async fn check(&mut self) {
        let shared = Arc::clone(&self.shared);
        let outcome = {
            let asking = async { store::writable(self.connected().await?).await };
            let mut asking = pin!(timeout(shared.deadline, asking));
            match timeout(HEARTBEAT, &mut asking).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    shared.fails(&store::late());
                    asking.await
                }
            }
        };
        match outcome.unwrap_or_else(|_| Err(store::late())) {
            Ok(()) | Err(Failure::NoDay | Failure::Data(_)) => self.shared.availability.succeeds(),
            Err(failure @ Failure::Away(_)) => self.fails(&failure),
        }
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, Failure> {
        if self.connection.is_none() {
            let options = self.database.connect_options();
            let connecting = timeout(self.shared.deadline, options.connect());
            let connection = connecting.await.map_err(|_| store::late())?;
            self.connection = Some(connection.map_err(Failure::Away)?);
        }
        self.connection.as_mut().ok_or_else(store::late)
    }

    /// Drops a connection whose state is unknown.
    fn fails(&mut self, failure: &Failure) {
        self.connection = None;
        self.shared.fails(failure);
    }

    /// Records how many unauthenticated requests were only counted.
    async fn summarize_anonymous(&mut self, end: bool) {
        let now = self.shared.clock.monotonic();
        let Some(summary) = self.shared.anonymous.summary(now, end) else {
            return;
        };
        let (response_status, error_code, outcome) = summary.refused;
        let record = Record {
            request_id: Box::default(),
            application_id: None,
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
        let submission = self.shared.submission(record, None);
        self.commit(vec![submission]).await;
    }
}

impl Shared {
    /// Subtracts the records that have left the queue.
    fn took(&self, submissions: &[Submission]) {
        let further = count(submissions) - submissions.len();
        if further > 0 {
            self.further.fetch_sub(further, Ordering::Relaxed);
        }
    }

    /// Keeps since when records cannot be committed, and logs it once.
    fn fails(&self, error: &Failure) {
        let now = self.clock.monotonic();
        if self.availability.failing_for(now).is_zero() {
            tracing::warn!(%error, "audit records cannot be committed; retrying");
        }
        self.availability.fails(now);
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
