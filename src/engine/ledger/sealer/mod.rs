//! The job that seals records. Of several instances, one at a time seals.
//!
//! A batch of records, their hashes and the new head are one transaction, which changes nothing if the
//! head is not the one that the sealer knows. Only a committed head is signed. So neither a sealer that
//! has lost its lock nor a crash can lead to two checkpoints that contradict each other. What the
//! database itself loses, the anchor and the memory of this process show. A checkpoint is in the anchor
//! before a client can read it. The anchor accepts one history only, also if two databases accept writes.

mod growth;
mod history;
mod numbers;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::{Instant, sleep, timeout};

use self::growth::{OpenLog, Unsigned, WINDOWS, seal};
use self::numbers::read_status;
use super::Log;
use super::anchor::{AnchorError, AnchorFile};
use super::distributor::Distributor;
use super::head::Signed;
use super::key::SigningKey;
use super::seal_error::SealError;
use super::status::{SealState, SealStatus};
use super::store;
use super::sweep::Sweep;
use super::tree::load_tree;
use super::witness::InvalidWitness;
use crate::db::Pool;
use crate::jobs::{Job, Leader, Leadership, Pulse};
use crate::settings::{Seal, SealAnchor};
use formats::clock::Timestamp;
use formats::tlog::Checkpoint;

/// The time after which a statement of the sealer has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often the numbers of the logs are read.
const STATUS_INTERVAL: Duration = Duration::from_secs(5);

/// The sealer of this instance.
pub struct Sealer {
    pool: Pool,
    token: hsm::Token,
    interval: Duration,
    /// Whether checkpoints have a cosignature with ML-DSA-44.
    post_quantum: bool,
    anchor: Option<AnchorFile>,
    distributor: Distributor,
    status: SealStatus,
    /// The latest checkpoints that this process has signed, or has seen while another instance seals.
    known: BTreeMap<(Log, String), Checkpoint>,
}

/// The leadership, and the logs as they are.
struct SealingSession {
    leadership: Leadership,
    keys: Vec<SigningKey>,
    logs: Vec<OpenLog>,
}

impl Sealer {
    /// A sealer with these settings.
    pub fn new(
        pool: Pool,
        token: hsm::Token,
        settings: &Seal,
        status: SealStatus,
    ) -> Result<Self, InvalidWitness> {
        Ok(Self {
            distributor: Distributor::new(pool.clone(), settings)?,
            pool,
            token,
            interval: settings.interval.0,
            post_quantum: settings.post_quantum,
            anchor: match &settings.anchor {
                Some(SealAnchor::File(path)) => Some(AnchorFile::new(path)),
                Some(SealAnchor::Witness(_)) | None => None,
            },
            status,
            known: BTreeMap::new(),
        })
    }

    /// Seals until it is dropped. What it has signed remains known when it runs again.
    pub async fn run(&mut self, pulse: Pulse) -> Infallible {
        // Its lock ends with this run, so that another instance can take over.
        let spec = Job::Sealer.spec().every(self.interval);
        let mut leader = Leader::new(self.pool.clone(), spec);
        loop {
            let before = self.status.state();
            let state = match self.seal_while_leading(&mut leader, &pulse).await {
                Ok(()) | Err(SealError::Moved) => SealState::Standby,
                Err(SealError::NotInitialized) => SealState::NotInitialized,
                Err(error) => SealState::Failed(error.to_string()),
            };
            if matches!(state, SealState::Failed(_)) {
                pulse.alive();
            } else {
                pulse.succeeded();
            }
            if state != before {
                match &state {
                    SealState::Failed(error) => {
                        tracing::error!(error, "audit records are not sealed")
                    }
                    SealState::NotInitialized => {
                        tracing::warn!("audit records are not sealed: run `sealward audit init`");
                    }
                    SealState::Starting
                    | SealState::Standby
                    | SealState::Sealing
                    | SealState::Unknown => {}
                }
            }
            self.status.set_state(state);
            let read = timeout(TIMEOUT, read_status(&self.pool, &self.distributor)).await;
            if let Ok(Ok(logs)) = read {
                self.status.set_logs(logs);
            }
            sleep(self.interval).await;
        }
    }

    /// Seals while this instance leads. Returns if another one leads.
    async fn seal_while_leading(
        &mut self,
        leader: &mut Leader,
        pulse: &Pulse,
    ) -> Result<(), SealError> {
        let Some(mut leadership) = in_time(async { Ok(leader.lead().await?) }).await? else {
            return in_time(self.remember()).await;
        };
        let (marks, distributor) = (leadership.marks(), self.distributor.clone());
        let sealing = async {
            let head = store::head(leadership.connection(), Log::Operations);
            if in_time(async { Ok(head.await?) }).await?.is_none() {
                leader.keep(leadership);
                return Err(SealError::NotInitialized);
            }
            let mut session = in_time(self.open(leadership)).await?;
            tokio::select! {
                ended = self.seal(&mut session, pulse) => ended.map(|never| match never {}),
                never = distributor.run() => match never {},
            }
        };
        marks.during(sealing).await
    }

    async fn seal(
        &mut self,
        session: &mut SealingSession,
        pulse: &Pulse,
    ) -> Result<Infallible, SealError> {
        let mut counted_at = Instant::now();
        loop {
            let started = Instant::now();
            in_time(self.tick(session)).await?;
            pulse.succeeded();
            if counted_at.elapsed() >= STATUS_INTERVAL || self.status.logs().is_empty() {
                self.status.set_logs(
                    in_time(async { Ok(read_status(&self.pool, &self.distributor).await?) })
                        .await?,
                );
                counted_at = Instant::now();
            }
            sleep(self.interval.saturating_sub(started.elapsed())).await;
        }
    }

    async fn open(&mut self, mut leadership: Leadership) -> Result<SealingSession, SealError> {
        let connection = leadership.connection();
        let keys = self.keys(&mut *connection).await?;
        let mut logs = Vec::new();
        for log in Log::ALL {
            let head = store::head(&mut *connection, log).await?;
            let head = head.ok_or(SealError::NotInitialized)?;
            // Under another origin, the checkpoints of this log would not be compared.
            let origin = store::origin(self.pool.rows_on(&mut *connection), log).await?;
            if origin.as_ref() != Some(&head.origin) {
                return Err(SealError::Origin(log));
            }
            let tree = load_tree(&mut *connection, log, head.size).await?;
            let tree = tree.filter(|tree| tree.root() == head.root);
            let mut open = OpenLog {
                log,
                is_new: head.size == 0,
                tree: tree.ok_or(SealError::Broken(log))?,
                head,
                sweeps: WINDOWS.map(Sweep::new),
                unsigned: None,
            };
            self.check(&mut *connection, &keys, &mut open).await?;
            self.compare(&mut *connection, &keys, &mut open).await?;
            logs.push(open);
        }
        Ok(SealingSession { leadership, keys, logs })
    }

    /// Seals the records that are committed now, and signs.
    async fn tick(&mut self, session: &mut SealingSession) -> Result<(), SealError> {
        let SealingSession { leadership, keys, logs } = session;
        let connection = leadership.connection();
        let now = store::now(&mut *connection).await?;
        // `audit init --new-key` replaces the key while the service runs.
        *keys = self.keys(&mut *connection).await?;
        let mut failure = None;
        for open in &mut *logs {
            let deadline = Instant::now() + self.interval;
            seal(&mut *connection, open, now, deadline).await?;
            self.sign_in_turn(connection, keys, open, now).await?;
            failure = failure.or(open.unsigned.as_ref().map(|it| it.reason.clone()));
        }
        let signs_with_ed25519 = keys.first().is_some_and(SigningKey::is_ed25519);
        if failure.is_none() && self.distributor.is_needed() && !signs_with_ed25519 {
            failure = Some(SealError::NeedsEd25519.to_string());
        }
        if failure.is_none() && self.post_quantum {
            let cosigners = store::cosigners(self.pool.rows_on(connection)).await?;
            failure = cosigners.is_empty().then(|| SealError::NeedsCosigner.to_string());
        }
        let state = failure.map_or(SealState::Sealing, SealState::Failed);
        if let SealState::Failed(error) = &state
            && self.status.state() != state
        {
            tracing::error!(error, "checkpoints of the audit logs are not signed");
        }
        self.status.set_state(state);
        Ok(())
    }

    /// The signing keys, newest first. If the newest row did not count, an older key would sign.
    async fn keys(&self, connection: &mut PgConnection) -> Result<Vec<SigningKey>, SealError> {
        if !store::are_whole(self.pool.rows_on(connection)).await? {
            return Err(SealError::Rows);
        }
        Ok(store::keys(self.pool.rows_on(connection)).await?)
    }

    /// Signs and stores a checkpoint of the head, unless there is one. Records are sealed without a
    /// checkpoint while the token or the witness of the anchor is out.
    async fn sign_in_turn(
        &mut self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
        now: Timestamp,
    ) -> Result<(), SealError> {
        let is_current = |signed: &Signed| signed.size == open.head.size;
        let is_waiting = |it: &Unsigned| Instant::now() < it.retry_at;
        if open.head.signed.as_ref().is_some_and(is_current)
            || open.unsigned.as_ref().is_some_and(is_waiting)
        {
            return Ok(());
        }
        let (reason, pause) = match self.sign(connection, keys, open, now).await {
            Ok(()) => {
                open.unsigned = None;
                return Ok(());
            }
            Err(SealError::NotSigned(error)) => (error.to_string(), self.interval),
            Err(SealError::Anchor(error @ AnchorError::Witness { .. })) => {
                (error.to_string(), self.distributor.pause())
            }
            Err(error) => return Err(error),
        };
        let retry_at = Instant::now() + pause;
        open.unsigned = Some(Unsigned { reason, retry_at });
        Ok(())
    }

    async fn sign(
        &mut self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
        now: Timestamp,
    ) -> Result<(), SealError> {
        // A connection that ended has lost the lock, and another instance may seal.
        let head = store::head(&mut *connection, open.log).await?;
        if head.is_none_or(|head| head.checkpoint() != open.head.checkpoint()) {
            return Err(SealError::Moved);
        }
        let held = match &self.anchor {
            Some(anchor) => Some(anchor.hold().await?),
            None => None,
        };
        self.check(connection, keys, open).await?;
        let key = keys.first().ok_or(SealError::NotInitialized)?;
        let checkpoint = open.head.checkpoint();
        let mut note = key.sign(&self.token, &checkpoint).await?;
        if self.post_quantum {
            note = self.cosigned(connection, (&note, &checkpoint), now).await?;
        }
        // A checkpoint that clients can read is in the anchor.
        if let Some(anchor) = &held {
            anchor.write(open.log, &note).await?;
        }
        if let Some(witness) = self.distributor.anchor() {
            note = self.confirmed(witness, open, &note).await?;
        }
        let place = (open.log, checkpoint.origin.clone());
        self.known.insert(place, checkpoint);
        let signed = Signed { note, size: open.head.size, at: now };
        store::put_checkpoint(connection, open.log, &open.head.origin, &signed).await?;
        open.head.signed = Some(signed);
        Ok(())
    }

    /// The note with the cosignature of the newest key, if there is one. Without a key, `tick` reports that
    /// it is missing.
    async fn cosigned(
        &self,
        connection: &mut PgConnection,
        (note, checkpoint): (&str, &Checkpoint),
        now: Timestamp,
    ) -> Result<String, SealError> {
        match store::cosigners(self.pool.rows_on(connection)).await?.first() {
            Some(key) => Ok(key.cosign(&self.token, (note, checkpoint), now).await?),
            None => Ok(note.to_owned()),
        }
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, SealError>>) -> Result<T, SealError> {
    timeout(TIMEOUT, work).await.unwrap_or(Err(SealError::Late))
}
