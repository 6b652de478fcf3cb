//! The job that forwards. Of several instances, one at a time sends.

use std::convert::Infallible;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::{Instant, sleep, timeout};

use super::backoff::Backoff;
use super::collector::Collector;
use super::connection::CollectorError;
use super::cursor::{Cursor, Position};
use super::entry::ForwardedRecord;
use super::status::{ForwardState, ForwardStatus};
use super::{entry, store};
use crate::db::Pool;
use crate::jobs::{Job, Leader, Leadership, Pulse};
use crate::ledger::{self, Log};
use crate::settings::Forward;
use formats::clock::Clock;

/// The maximum number of bytes of a batch, unless a single entry is longer.
const BATCH: usize = 1024 * 1024;

/// The status of an HTTPS collector that accepts shorter batches.
const TOO_LONG: u16 = 413;

/// How long a shorter batch is used before a longer one is tried.
const SHORTENED: Duration = Duration::from_secs(60);

/// The time after which a statement has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often the lag is read.
const LAG_INTERVAL: Duration = Duration::from_secs(5);

/// The forwarder of this instance.
pub struct Forwarder {
    pool: Pool,
    clock: Clock,
    target: String,
    interval: Duration,
    collector: Collector,
    status: ForwardStatus,
    backoff: Backoff,
    batch: usize,
    /// When the maximum of a batch last changed.
    batch_changed: Duration,
}

/// The leadership, and the position of the collector in each log.
struct CollectorSession {
    leadership: Leadership,
    cursors: Vec<(Log, Cursor)>,
}

/// What a leader can forward.
enum Opened {
    Logs(CollectorSession),
    /// There are no logs before `sealward audit init`.
    Nothing(Leadership),
}

/// Why forwarding stopped.
#[derive(Debug, thiserror::Error)]
enum ForwardError {
    #[error("the database did not answer in time")]
    Late,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Collector(#[from] CollectorError),
    /// Another instance forwards.
    #[error("another instance forwards")]
    Moved,
}

impl Forwarder {
    /// A forwarder to this collector.
    pub fn new(
        pool: Pool,
        clock: Clock,
        collector: Collector,
        settings: &Forward,
        status: ForwardStatus,
    ) -> Self {
        Self {
            pool,
            clock,
            target: settings.target.clone(),
            interval: settings.interval.0,
            collector,
            status,
            backoff: Backoff::default(),
            batch: BATCH,
            batch_changed: Duration::ZERO,
        }
    }

    /// Forwards until it is dropped.
    pub async fn run(&mut self, pulse: Pulse) -> Infallible {
        // Its lock ends with this run, so that another instance can take over.
        let spec = Job::Forwarder.spec().every(self.interval);
        let mut leader = Leader::new(self.pool.clone(), spec);
        loop {
            let state = match self.forward_while_leading(&mut leader, &pulse).await {
                Ok(()) | Err(ForwardError::Moved) => {
                    pulse.succeeded();
                    ForwardState::Standby
                }
                Err(error) => {
                    pulse.alive();
                    ForwardState::Failed(error.to_string())
                }
            };
            self.set_state(state);
            self.read_lag().await;
            sleep(self.interval).await;
        }
    }

    /// Forwards while this instance leads. Returns if another one leads, or if there is nothing to forward
    /// yet.
    async fn forward_while_leading(
        &mut self,
        leader: &mut Leader,
        pulse: &Pulse,
    ) -> Result<(), ForwardError> {
        let Some(leadership) = in_time(async { Ok(leader.lead().await?) }).await? else {
            return Ok(());
        };
        let marks = leadership.marks();
        marks.during(self.forward(leader, leadership, pulse)).await
    }

    async fn forward(
        &mut self,
        leader: &mut Leader,
        leadership: Leadership,
        pulse: &Pulse,
    ) -> Result<(), ForwardError> {
        let mut session = match in_time(self.open(leadership)).await? {
            Opened::Logs(session) => session,
            Opened::Nothing(leadership) => {
                leader.keep(leadership);
                return Ok(());
            }
        };
        let mut read_at = None;
        loop {
            let started = Instant::now();
            self.tick(&mut session).await?;
            pulse.succeeded();
            if read_at.is_none_or(|at: Instant| at.elapsed() >= LAG_INTERVAL) {
                self.read_lag().await;
                read_at = Some(started);
            }
            sleep(self.interval.saturating_sub(started.elapsed())).await;
        }
    }

    async fn open(&mut self, mut leadership: Leadership) -> Result<Opened, ForwardError> {
        let connection = leadership.connection();
        let head = ledger::store::head(&mut *connection, Log::Operations).await?;
        if head.is_none() {
            return Ok(Opened::Nothing(leadership));
        }
        // Entries of another instance that are not confirmed need a new connection.
        self.collector.disconnect();
        let mut cursors = Vec::new();
        for log in Log::ALL {
            let position = store::position(&mut *connection, &self.target, log).await?;
            cursors.push((log, Cursor::new(position, self.collector.window())));
        }
        Ok(Opened::Logs(CollectorSession { leadership, cursors }))
    }

    /// Sends the entries that are sealed now, unless the collector failed a short time ago.
    async fn tick(&mut self, session: &mut CollectorSession) -> Result<(), ForwardError> {
        let now = self.clock.monotonic();
        if !self.backoff.is_due(now) {
            return Ok(());
        }
        match self.send(session, now).await {
            Ok(()) => {
                self.backoff.reset();
                if self.batch < BATCH && now.saturating_sub(self.batch_changed) >= SHORTENED {
                    self.batch = (self.batch * 2).min(BATCH);
                    self.batch_changed = now;
                }
                self.set_state(ForwardState::Forwarding);
                Ok(())
            }
            Err(ForwardError::Collector(error)) => {
                if matches!(error, CollectorError::Refused(TOO_LONG)) {
                    self.batch = (self.batch / 2).max(1);
                    self.batch_changed = now;
                }
                self.backoff.fail(self.clock.monotonic());
                self.set_state(ForwardState::Failed(error.to_string()));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a batch of each log in turn, until there is none or the interval is over.
    async fn send(
        &mut self,
        session: &mut CollectorSession,
        now: Duration,
    ) -> Result<(), ForwardError> {
        let deadline = Instant::now() + self.interval;
        let is_connected = self.collector.is_connected().await;
        let CollectorSession { leadership, cursors } = session;
        let connection = leadership.connection();
        for (log, cursor) in &mut *cursors {
            let old = cursor.position;
            if is_connected {
                cursor.confirm(now);
            } else {
                cursor.rewind();
            }
            if cursor.position != old {
                self.save(connection, *log, cursor, old).await?;
            }
        }
        loop {
            let mut is_done = true;
            for (log, cursor) in &mut *cursors {
                let start = cursor.position.sent;
                let batch = entry::batch(connection, *log, start, self.batch);
                let batch = in_time(async { Ok(batch.await?) }).await?;
                let Some(last) = batch.last() else {
                    continue;
                };
                send_batch(&mut self.collector, &self.status, *log, &batch).await?;
                let old = cursor.position;
                cursor.sent(last.index + 1, self.clock.monotonic());
                self.save(connection, *log, cursor, old).await?;
                is_done = false;
            }
            if is_done || Instant::now() >= deadline {
                return Ok(());
            }
        }
    }

    /// Writes a position. Without the lock it is another one already.
    async fn save(
        &self,
        connection: &mut PgConnection,
        log: Log,
        cursor: &Cursor,
        old: Position,
    ) -> Result<(), ForwardError> {
        let saved = store::advance(connection, &self.target, log, old, cursor.position);
        match in_time(async { Ok(saved.await?) }).await? {
            true => Ok(()),
            false => Err(ForwardError::Moved),
        }
    }

    fn set_state(&self, state: ForwardState) {
        let before = self.status.state();
        match &state {
            ForwardState::Failed(error) if state != before => {
                tracing::error!(error, target = self.target, "audit records are not forwarded");
            }
            ForwardState::Forwarding if matches!(before, ForwardState::Failed(_)) => {
                tracing::info!(target = self.target, "audit records are forwarded again");
            }
            ForwardState::Off
            | ForwardState::Standby
            | ForwardState::Forwarding
            | ForwardState::Failed(_)
            | ForwardState::Unknown => {}
        }
        self.status.set_state(state);
    }

    async fn read_lag(&self) {
        let read = timeout(TIMEOUT, store::lags(&self.pool, &self.target)).await;
        if let Ok(Ok(lags)) = read {
            self.status.set_lags(lags);
        }
    }
}

/// Sends a batch. A record that the collector refuses as too long, also alone, would stop all later
/// ones: the collector receives its hash instead.
async fn send_batch(
    collector: &mut Collector,
    status: &ForwardStatus,
    log: Log,
    batch: &[ForwardedRecord],
) -> Result<(), CollectorError> {
    let refused = match (collector.send(log, batch).await, batch) {
        (Err(CollectorError::Refused(TOO_LONG)), [refused]) => refused,
        (sent, _) => return sent,
    };
    collector.send(log, &[refused.without_record(log)]).await?;
    tracing::error!(
        %log,
        log_index = refused.index,
        bytes = refused.line.len(),
        "the collector refused a record as too long and received only its hash"
    );
    status.note_omitted();
    Ok(())
}

async fn in_time<T>(
    work: impl Future<Output = Result<T, ForwardError>>,
) -> Result<T, ForwardError> {
    timeout(TIMEOUT, work).await.unwrap_or(Err(ForwardError::Late))
}
