//! The job that seals records. Of several instances, one at a time seals.
//!
//! The positions of some segments, their hashes and the new head are one transaction, which changes nothing if
//! the head is not the one that the sealer knows. Only a committed head is signed. So neither a sealer that
//! has lost its lock nor a crash can lead to two checkpoints that contradict each other. What the
//! database itself loses, the anchor and the memory of this process show. A checkpoint is in the anchor
//! before a client can read it. The anchor accepts one history only, also if two databases accept writes.

mod growth;
mod history;
mod numbers;
mod recent;
mod rollback;
mod sample;
mod signing;
mod stragglers;
mod sweeping;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::mem;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::{Instant, sleep, timeout};

use self::growth::OpenLog;
use self::history::{LatestCheckpoint, check_extends, largest_tree, sealed_origin};
use self::rollback::History;
use self::sweeping::seal;
use super::Log;
use super::anchor::AnchorFile;
use super::distributor::Distributor;
use super::foreign::accepted_forgeries;
use super::head::Head;
use super::key::SigningKey;
use super::positioned::check_own;
use super::seal_error::{Fork, SealError};
use super::status::{SealState, SealStatus};
use super::store::{self, Moment};
use super::tree::load_tree;
use super::witness::InvalidWitness;
use crate::db::Pool;
use crate::jobs::{Job, Leader, Leadership, Pulse};
use crate::settings::{Seal, SealAnchor};
use formats::clock::Timestamp;

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
    started: Timestamp,
    /// The latest checkpoints that this process has signed, or has seen while another instance seals.
    known: BTreeMap<(Log, String), LatestCheckpoint>,
    /// The log whose head moved while this process had the lock, and its origin: it does not seal this log again.
    moved: Option<(Log, String)>,
    /// The latest checkpoint that a log did not extend.
    fork: Option<Fork>,
    /// Whether the database was rolled back.
    history: History,
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
            started: status.now(),
            status,
            known: BTreeMap::new(),
            moved: None,
            fork: None,
            history: History::Unknown,
        })
    }

    /// Seals until it is dropped. What it has signed remains known when it runs again.
    pub async fn run(&mut self, pulse: Pulse) -> Infallible {
        // Its lock ends with this run, so that another instance can take over.
        let spec = Job::Sealer.spec().every(self.interval);
        let mut leader = Leader::new(self.pool.clone(), spec);
        loop {
            let before = self.status.state();
            let ended = self.seal_while_leading(&mut leader, &pulse).await;
            self.note_history(&ended);
            let state = match ended {
                Ok(()) | Err(SealError::Renewed) => SealState::Standby,
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
            let read = timeout(TIMEOUT, self.read_status()).await;
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
            self.distributor.forget();
            return in_time(self.stand_by()).await;
        };
        let (marks, distributor) = (leadership.marks(), self.distributor.clone());
        let sealing = async {
            let head = store::head(leadership.connection(), Log::Operations);
            if in_time(async { Ok(head.await?) }).await?.is_none() {
                leader.keep(leadership);
                in_time(self.compare()).await?;
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

    /// Remembers what another instance signs. A log whose head moved stays a failure of this one until it restarts.
    async fn stand_by(&mut self) -> Result<(), SealError> {
        self.remember().await?;
        self.compare().await?;
        if self.history != History::Extends {
            self.ask_witness().await?;
        }
        let Some((log, _)) = self.moved else {
            return Ok(());
        };
        match store::head(&self.pool, log).await? {
            Some(head) => self.check_not_moved(log, &head),
            None => Ok(()),
        }
    }

    fn check_not_moved(&self, log: Log, head: &Head) -> Result<(), SealError> {
        let moved = self.moved.as_ref();
        match moved.is_some_and(|(of, origin)| (*of, origin) == (log, &head.origin)) {
            true => Err(SealError::Moved(log)),
            false => Ok(()),
        }
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
                self.status.set_logs(in_time(async { Ok(self.read_status().await?) }).await?);
                counted_at = Instant::now();
            }
            sleep(self.interval.saturating_sub(started.elapsed())).await;
        }
    }

    async fn open(&mut self, mut leadership: Leadership) -> Result<SealingSession, SealError> {
        self.remember().await?;
        let connection = leadership.connection();
        store::avoid_sequential_scans(&mut *connection).await?;
        let keys = self.keys(&mut *connection).await?;
        let mut logs = Vec::new();
        for log in Log::ALL {
            let head = store::head(&mut *connection, log).await?;
            let head = head.ok_or(SealError::NotInitialized)?;
            let rows = self.pool.rows_on(&mut *connection);
            let origin = sealed_origin(rows, log, &head).await?;
            self.note_origin(log, &head.origin);
            let tree = load_tree(&mut *connection, log, head.size).await?;
            let tree = tree.filter(|tree| tree.root() == head.root);
            let tree = tree.ok_or(SealError::Broken(log))?;
            let accepted = (log, head.origin.as_str());
            let foreign = accepted_forgeries(self.pool.rows_on(&mut *connection), accepted).await?;
            let moment = store::moment(&mut *connection).await?;
            let (newest, _) = store::sealed_around(&mut *connection, log, moment.now).await?;
            let mut open = OpenLog::new(log, (head, tree), foreign, (moment, newest));
            let known = self.known_checkpoints(&keys, &mut open).await?;
            let signed = largest_tree(&mut *connection, log, &open.head, &known).await?;
            let trusted = signed.max(origin.accepted.unsigned_abs().min(open.head.size));
            let own = check_own(&mut *connection, self.pool.seals(), (log, &open.head), trusted);
            if let Err(untrusted) = own.await {
                // It does not prevent the comparison of the other log.
                self.compare().await?;
                return Err(untrusted);
            }
            check_extends(&mut *connection, &open, &known).await?;
            self.compare_with_witness(&mut *connection, &keys, &mut open).await?;
            self.check_not_moved(log, &open.head)?;
            logs.push(open);
        }
        self.note_history(&Ok(()));
        Ok(SealingSession { leadership, keys, logs })
    }

    /// Seals the records that are committed now, and signs.
    async fn tick(&mut self, session: &mut SealingSession) -> Result<(), SealError> {
        let SealingSession { leadership, keys, logs } = session;
        let connection = leadership.connection();
        let moment = store::moment(&mut *connection).await?;
        // `audit init --new-key` replaces the key while the service runs.
        *keys = self.keys(&mut *connection).await?;
        let mut failure = None;
        for open in &mut *logs {
            let deadline = Instant::now() + self.interval;
            let sealed = self.continue_log(connection, keys, open, (&moment, deadline)).await;
            if let Err(SealError::Moved(log)) = sealed {
                self.moved = Some((log, open.head.origin.clone()));
            }
            sealed?;
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

    /// Seals what one log needs, and signs.
    async fn continue_log(
        &mut self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
        (moment, deadline): (&Moment, Instant),
    ) -> Result<(), SealError> {
        seal(&mut *connection, self.pool.seals(), open, moment, deadline).await?;
        self.status.note_stragglers(open.log, mem::take(&mut open.stragglers));
        self.sign_in_turn(&mut *connection, keys, open, moment.now).await?;
        sample::check(connection, self.pool.seals(), open).await?;
        Ok(())
    }

    /// The signing keys, newest first. If the newest row did not count, an older key would sign.
    async fn keys(&self, connection: &mut PgConnection) -> Result<Vec<SigningKey>, SealError> {
        store::whole_keys(self.pool.rows_on(connection)).await?.ok_or(SealError::Rows)
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, SealError>>) -> Result<T, SealError> {
    timeout(TIMEOUT, work).await.unwrap_or(Err(SealError::Late))
}
