//! The one who writes. What arrives while a batch commits makes the next batch: one statement, one
//! flush for all of it, and never more than one batch under way.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{ConnectOptions as _, PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

use super::record::Record;
use super::recorder::{Handed, Receipt, Shared, Unrecorded};
use super::store::{self, Failure};

/// The most records in one statement.
const MOST: usize = 512;

/// How many turns of the runtime a batch waits for others at the most.
const TURNS: usize = 8;

/// How often an idle scribe makes sure that writing would work, and looks at the strangers' count.
const BEAT: Duration = Duration::from_millis(500);

/// The waits between attempts: the first, and the longest it is doubled to.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// The handle on the writing task.
#[derive(Debug)]
pub struct Scribe {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Scribe {
    pub(super) fn start(
        shared: Arc<Shared>,
        queue: mpsc::Receiver<Handed>,
        database: PgPool,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let writer = Writer {
            shared,
            database,
            connection: None,
        };
        Self {
            stop,
            task: tokio::spawn(writer.run(queue, stopped)),
        }
    }

    /// Takes no more records, and commits those that were handed over. True when all are committed;
    /// false when `patience` ran out first.
    pub async fn finish(self, patience: Duration) -> bool {
        // A task that has ended already has nothing left to be told.
        let _ = self.stop.send(());
        let abort = self.task.abort_handle();
        let finished = timeout(patience, self.task).await.is_ok();
        if !finished {
            abort.abort();
            tracing::error!("audit records could not be committed before the end");
        }
        finished
    }
}

struct Writer {
    shared: Arc<Shared>,
    /// Tells where to connect to, which may become another server.
    database: PgPool,
    connection: Option<PgConnection>,
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::Receiver<Handed>, mut stopped: oneshot::Receiver<()>) {
        let mut beat = beat();
        let mut batch = Vec::with_capacity(MOST);
        loop {
            tokio::select! {
                biased;
                _ = &mut stopped, if !queue.is_closed() => queue.close(),
                _ = beat.tick() => {
                    self.tell_strangers(false).await;
                    self.feel_pulse().await;
                    // However long that took, records have their turn before the next beat.
                    beat.reset();
                }
                taken = queue.recv_many(&mut batch, MOST) => {
                    if taken == 0 {
                        break;
                    }
                    // Whoever is about to hand over comes along: no timer, but some turns of the
                    // runtime, for as long as each of them brings others.
                    for _ in 0..TURNS {
                        let before = batch.len();
                        yield_now().await;
                        gather(&mut queue, &mut batch);
                        if batch.len() == before {
                            break;
                        }
                    }
                    self.commit(std::mem::replace(&mut batch, Vec::with_capacity(MOST))).await;
                    // A commit has just shown what the beat would ask; what it would tell, it tells.
                    self.tell_strangers(false).await;
                    beat.reset();
                }
            }
        }
        self.tell_strangers(true).await;
    }

    /// Commits a batch, however long it takes; halves it where its data is at fault.
    async fn commit(&mut self, batch: Vec<Handed>) {
        let mut parts = vec![batch];
        let mut again = false;
        let mut wait = FIRST_WAIT;
        while let Some(mut part) = parts.pop() {
            match self.attempt(&part, again).await {
                Ok(()) => {
                    self.shared.pulse.well();
                    self.shared.count(&part);
                    for handed in part {
                        handed.answer(Ok(Receipt::of_commit()));
                    }
                }
                Err(Failure::NoDay | Failure::Data(_)) if part.len() > 1 => {
                    let rest = part.split_off(part.len() / 2);
                    parts.push(rest);
                    parts.push(part);
                }
                Err(failure @ (Failure::NoDay | Failure::Data(_))) => {
                    for culprit in part {
                        tracing::error!(id = %culprit.id, %failure, "the database refuses an audit record");
                        culprit.answer(Err(Unrecorded::Refused));
                    }
                }
                Err(failure @ Failure::Away(_)) => {
                    // Whether it was committed is not known: from now on "unless it is there".
                    again = true;
                    self.fails(&failure);
                    parts.push(part);
                    sleep(wait).await;
                    wait = LONGEST_WAIT.min(wait * 2);
                }
            }
        }
    }

    async fn attempt(&mut self, part: &[Handed], again: bool) -> Result<(), Failure> {
        let deadline = self.shared.deadline;
        let connection = self.connected().await?;
        let written = timeout(deadline, async {
            match store::insert(connection, part, again).await {
                Err(Failure::NoDay) => {
                    store::make_days(connection, part.iter().map(|handed| handed.ts)).await?;
                    store::insert(connection, part, again).await
                }
                outcome => outcome,
            }
        });
        written.await.unwrap_or_else(|_| Err(store::late()))
    }

    /// Sees whether a record could be written now, and keeps the connection awake. What takes longer
    /// than a beat is a failure until it has come; it has as long as a record would have, because what
    /// is given up sooner is never there for one.
    async fn feel_pulse(&mut self) {
        let shared = Arc::clone(&self.shared);
        let felt = {
            let asking = async { store::writable(self.connected().await?).await };
            let mut asking = pin!(timeout(shared.deadline, asking));
            match timeout(BEAT, &mut asking).await {
                Ok(felt) => felt,
                Err(_) => {
                    shared.falters(&store::late());
                    asking.await
                }
            }
        };
        match felt.unwrap_or_else(|_| Err(store::late())) {
            Ok(()) | Err(Failure::NoDay | Failure::Data(_)) => self.shared.pulse.well(),
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

    /// Lets go of a connection that cannot be trusted any more.
    fn fails(&mut self, failure: &Failure) {
        self.connection = None;
        self.shared.falters(failure);
    }

    /// Records how many requests of nobody were not recorded one by one.
    async fn tell_strangers(&mut self, end: bool) {
        let now = self.shared.clock.monotonic();
        let Some(others) = self.shared.strangers.tally(now, end) else {
            return;
        };
        let count = Record {
            request_id: Box::default(),
            application_id: None,
            api_key_id: None,
            operation_type: None,
            endpoint: None,
            policy_number: None,
            key_id: None,
            payload_size_bytes: 0,
            response_status: 401,
            arrived: now,
            error_code: Some("AUTHENTICATION_FAILED"),
            error_message: Some(
                format!(
                    "{others} more requests without valid credentials, not recorded one by one"
                )
                .into(),
            ),
            client_address: None,
        };
        let handed = self.shared.hand(count, None);
        self.commit(vec![handed]).await;
    }
}

impl Shared {
    /// Remembers since when records cannot be committed, and tells it once.
    fn falters(&self, error: &Failure) {
        let now = self.clock.monotonic();
        if self.pulse.failing_for(now).is_zero() {
            tracing::warn!(%error, "audit records cannot be committed; trying on");
        }
        self.pulse.failing(now);
    }
}

impl Handed {
    fn answer(self, outcome: Result<Receipt, Unrecorded>) {
        if let Some(waiter) = self.waiter {
            // Whoever waited may have gone; the record stands either way.
            let _ = waiter.send(outcome);
        }
    }
}

/// Takes what has arrived meanwhile, as far as one statement has room for it.
fn gather(queue: &mut mpsc::Receiver<Handed>, batch: &mut Vec<Handed>) {
    while batch.len() < MOST
        && let Ok(handed) = queue.try_recv()
    {
        batch.push(handed);
    }
}

fn beat() -> Interval {
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
