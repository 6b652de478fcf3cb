//! The job that seals records. Of several instances, one at a time seals.
//!
//! A batch of records, their hashes and the new head are one transaction, which changes nothing if the
//! head is not the one that the sealer knows. Only a committed head is signed. So neither a sealer that
//! has lost its lock nor a crash can lead to two checkpoints that contradict each other. What the
//! database itself loses, the anchor and the memory of this process show.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::{Instant, sleep, timeout};

use super::anchor::{AnchorError, AnchorFile};
use super::distributor::Distributor;
use super::head::{Growth, Head, Signed, load_tree, root_at};
use super::key::SigningKey;
use super::leaf::{NotARecord, leaf};
use super::seal_error::SealError;
use super::status::{LogStatus, SealState, SealStatus, WitnessStatus};
use super::store::{self, RecordKey};
use super::sweep::{STEP, Sweep};
use super::witness::{InvalidWitness, NotCosigned};
use super::{Log, records};
use crate::clock::Timestamp;
use crate::db::Pool;
use crate::settings::{Seal, SealAnchor};
use crate::tlog::{Checkpoint, Hash, Note, Tree};

/// The number of records in one transaction.
const BATCH: usize = 1_000;

/// The windows of the sweeps. Records of the first one are sealed within the interval.
const WINDOWS: [Option<Duration>; 3] = [
    Some(Duration::from_secs(10)),
    Some(Duration::from_secs(10 * 60)),
    None,
];

/// The time after which a statement of the sealer has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often the numbers of [`LogStatus`] are read.
const STATUS_INTERVAL: Duration = Duration::from_secs(5);

/// The sealer of this instance.
#[derive(Debug)]
pub struct Sealer {
    pool: Pool,
    token: hsm::Token,
    interval: Duration,
    anchor: Option<AnchorFile>,
    distributor: Distributor,
    status: SealStatus,
    /// The connection that waits for the lock.
    waiting: Option<PgConnection>,
    /// The latest checkpoints that this process has signed.
    signed: BTreeMap<Log, Checkpoint>,
}

/// The connection with the lock, and the logs as they are.
struct Session {
    connection: PgConnection,
    keys: Vec<SigningKey>,
    logs: Vec<OpenLog>,
}

struct OpenLog {
    log: Log,
    head: Head,
    tree: Tree,
    sweeps: [Sweep; WINDOWS.len()],
    /// Whether it was empty, so that old records are sealed first.
    is_new: bool,
    tried_at: Option<Instant>,
}

impl Sealer {
    /// A sealer with these settings.
    ///
    /// # Errors
    /// The settings of a witness cannot be used.
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
            anchor: match &settings.anchor {
                Some(SealAnchor::File(path)) => Some(AnchorFile::new(path)),
                Some(SealAnchor::Witness(_)) | None => None,
            },
            status,
            waiting: None,
            signed: BTreeMap::new(),
        })
    }

    /// Seals until it is dropped.
    pub async fn run(mut self) -> Infallible {
        loop {
            let before = self.status.state();
            let state = match self.seal_while_locked().await {
                Ok(()) | Err(SealError::Moved) => SealState::Standby,
                Err(SealError::NotInitialized) => SealState::NotInitialized,
                Err(error) => SealState::Failed(error.to_string()),
            };
            if state != before {
                match &state {
                    SealState::Failed(error) => {
                        tracing::error!(error, "audit records are not sealed")
                    }
                    SealState::NotInitialized => {
                        tracing::warn!("audit records are not sealed: run `sealward audit init`");
                    }
                    SealState::Starting | SealState::Standby | SealState::Sealing => {}
                }
            }
            self.status.set_state(&state);
            let read = timeout(TIMEOUT, read_status(&self.pool, &self.distributor)).await;
            if let Ok(Ok(logs)) = read {
                self.status.set_logs(&logs);
            }
            sleep(self.interval).await;
        }
    }

    /// Seals while this instance has the lock. Returns if another one has it.
    async fn seal_while_locked(&mut self) -> Result<(), SealError> {
        let Some(mut session) = in_time(self.open()).await? else {
            return Ok(());
        };
        let distributor = self.distributor.clone();
        tokio::select! {
            ended = self.seal(&mut session) => ended.map(|never| match never {}),
            never = distributor.run() => match never {},
        }
    }

    async fn seal(&mut self, session: &mut Session) -> Result<Infallible, SealError> {
        let mut counted_at = Instant::now();
        loop {
            let started = Instant::now();
            in_time(self.tick(session)).await?;
            if counted_at.elapsed() >= STATUS_INTERVAL || self.status.logs().is_empty() {
                self.status.set_logs(
                    &in_time(async { Ok(read_status(&self.pool, &self.distributor).await?) })
                        .await?,
                );
                counted_at = Instant::now();
            }
            sleep(self.interval.saturating_sub(started.elapsed())).await;
        }
    }

    async fn open(&mut self) -> Result<Option<Session>, SealError> {
        if store::head(&self.pool, Log::Operations).await?.is_none() {
            return Err(SealError::NotInitialized);
        }
        let mut connection = match self.waiting.take() {
            Some(connection) => connection,
            None => store::connect(&self.pool).await?,
        };
        if !store::lock(&mut connection).await? {
            self.waiting = Some(connection);
            return Ok(None);
        }
        let keys = store::keys(&mut connection).await?;
        let mut logs = Vec::new();
        for log in Log::ALL {
            let head = store::head(&mut connection, log).await?;
            let head = head.ok_or(SealError::NotInitialized)?;
            let tree = load_tree(&mut connection, log, head.size).await?;
            let tree = tree.filter(|tree| tree.root() == head.root);
            let mut open = OpenLog {
                log,
                is_new: head.size == 0,
                tree: tree.ok_or(SealError::Broken(log))?,
                head,
                sweeps: WINDOWS.map(Sweep::new),
                tried_at: None,
            };
            self.check(&mut connection, &keys, &mut open).await?;
            self.compare(&keys, &open).await?;
            logs.push(open);
        }
        Ok(Some(Session {
            connection,
            keys,
            logs,
        }))
    }

    /// Compares a log with the witness of `audit.seal.anchor`. What the witness has cosigned was in the
    /// database before.
    async fn compare(&self, keys: &[SigningKey], open: &OpenLog) -> Result<(), SealError> {
        let Some(witness) = self.distributor.anchor() else {
            return Ok(());
        };
        let (note, size) = match &open.head.signed {
            Some(signed) => (signed.note.clone(), signed.size),
            // Every log extends the empty one.
            None => {
                let key = keys.first().ok_or(SealError::NotInitialized)?;
                let empty = Checkpoint {
                    origin: open.head.origin.clone(),
                    size: 0,
                    root: Hash::of_empty_tree(),
                };
                (key.sign(&self.token, &empty).await?, 0)
            }
        };
        let place = "audit.seal.anchor";
        let forged = |_| SealError::Forged {
            log: open.log,
            place,
        };
        let note: Note = note.parse().map_err(forged)?;
        let fork = |size| SealError::Fork {
            log: open.log,
            size,
            place,
        };
        match witness
            .cosign(&self.pool, open.log, (&note, size), size)
            .await
        {
            Ok(_) => Ok(()),
            Err(NotCosigned::Ahead(size)) => Err(fork(size)),
            Err(NotCosigned::Inconsistent) => Err(fork(size)),
            Err(error) => Err(SealError::Anchor(AnchorError::Witness {
                name: witness.key.name().to_owned(),
                reason: error.to_string(),
            })),
        }
    }

    /// Seals the records that are committed now, and signs.
    async fn tick(&mut self, session: &mut Session) -> Result<(), SealError> {
        let now = store::now(&mut session.connection).await?;
        // `audit init --new-key` replaces the key while the service runs.
        session.keys = store::keys(&mut session.connection).await?;
        let mut failure = None;
        for place in 0..session.logs.len() {
            let Some(open) = session.logs.get_mut(place) else {
                break;
            };
            let deadline = Instant::now() + self.interval;
            seal(&mut session.connection, open, now, deadline).await?;
            let Session {
                connection, keys, ..
            } = session;
            match self.sign(connection, keys, open, now).await {
                Ok(()) => {}
                // Records are sealed without a signature while the token is out.
                Err(SealError::NotSigned(error)) => failure = Some(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        let signs_with_ed25519 = session.keys.first().is_some_and(SigningKey::is_ed25519);
        if failure.is_none() && self.distributor.is_needed() && !signs_with_ed25519 {
            failure = Some(SealError::NeedsEd25519.to_string());
        }
        let state = failure.map_or(SealState::Sealing, SealState::Failed);
        if let SealState::Failed(error) = &state
            && self.status.state() != state
        {
            tracing::error!(error, "checkpoints of the audit logs are not signed");
        }
        self.status.set_state(&state);
        Ok(())
    }

    /// Signs and stores a checkpoint of the head, unless there is one.
    async fn sign(
        &mut self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
        now: Timestamp,
    ) -> Result<(), SealError> {
        let is_current = |signed: &Signed| signed.size == open.head.size;
        let is_retry = open.tried_at.is_some_and(|at| at.elapsed() < self.interval);
        if open.head.signed.as_ref().is_some_and(is_current) || is_retry {
            return Ok(());
        }
        open.tried_at = Some(Instant::now());
        self.check(connection, keys, open).await?;
        let key = keys.first().ok_or(SealError::NotInitialized)?;
        let checkpoint = open.head.checkpoint();
        let note = key.sign(&self.token, &checkpoint).await?;
        // What a client sees is in the anchor.
        if let Some(anchor) = &self.anchor {
            anchor.write(open.log, &note).await?;
        }
        self.signed.insert(open.log, checkpoint);
        let signed = Signed {
            note,
            size: open.head.size,
            at: now,
        };
        store::put_checkpoint(connection, open.log, &open.head.origin, &signed).await?;
        open.head.signed = Some(signed);
        open.tried_at = None;
        Ok(())
    }

    /// Checks that a log extends each checkpoint that is known.
    async fn check(
        &self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
    ) -> Result<(), SealError> {
        let anchored = match &self.anchor {
            Some(anchor) => anchor.read(open.log).await?,
            None => None,
        };
        let published = open.head.signed.as_ref().map(|signed| signed.note.clone());
        let mut known = Vec::new();
        for (note, place) in [(anchored, "audit.seal.anchor"), (published, "the database")] {
            if let Some(note) = note
                && let Some(checkpoint) = own(&note, &open.head, keys, open.log, place)?
            {
                known.push((checkpoint, place));
            }
        }
        let remembered = self.signed.get(&open.log).cloned();
        let same_origin = |it: &Checkpoint| it.origin == open.head.origin;
        known.extend(remembered.filter(same_origin).map(|it| (it, "memory")));
        for (checkpoint, place) in known {
            let size = checkpoint.size;
            let root = match size <= open.head.size {
                true => root_at(connection, open.log, size).await?,
                false => None,
            };
            if root != Some(checkpoint.root) {
                return Err(SealError::Fork {
                    log: open.log,
                    size,
                    place,
                });
            }
        }
        Ok(())
    }
}

/// The checkpoint of a note of this log. None for one of another origin, which `audit init` has replaced.
fn own(
    note: &str,
    head: &Head,
    keys: &[SigningKey],
    log: Log,
    place: &'static str,
) -> Result<Option<Checkpoint>, SealError> {
    if note.lines().next() != Some(head.origin.as_str()) {
        return Ok(None);
    }
    let verifiers = keys
        .iter()
        .filter_map(|key| key.verifier(&head.origin).ok());
    let mut opened = verifiers.filter_map(|key| Checkpoint::open(note, &key).ok());
    let checkpoint = opened.next().ok_or(SealError::Forged { log, place })?;
    Ok(Some(checkpoint))
}

/// Seals the records that the sweeps find, until the deadline.
async fn seal(
    connection: &mut PgConnection,
    open: &mut OpenLog,
    now: Timestamp,
    deadline: Instant,
) -> Result<(), SealError> {
    for place in 0..WINDOWS.len() {
        // The last sweep reads all records. On an empty log it goes first.
        let place = if open.is_new {
            WINDOWS.len() - 1
        } else {
            place
        };
        while let Some(sweep) = open.sweeps.get_mut(place) {
            let slice = store::slice(connection, open.log, sweep.place(now), STEP).await?;
            let is_last = sweep.advance(&slice);
            open.is_new &= !sweep.is_complete();
            for batch in slice.unsealed.chunks(BATCH) {
                grow(connection, open, batch).await?;
            }
            let is_idle = place > 0 && slice.unsealed.is_empty();
            if is_last || is_idle || Instant::now() >= deadline {
                break;
            }
        }
    }
    Ok(())
}

/// Adds a batch of records to a log.
async fn grow(
    connection: &mut PgConnection,
    open: &mut OpenLog,
    batch: &[RecordKey],
) -> Result<(), SealError> {
    let lines = records::lines(connection, open.log, batch).await?;
    let (mut tree, mut growth) = (open.tree.clone(), Growth::default());
    for key in batch {
        // The day of a record that is missing was retired meanwhile.
        let Some(line) = lines.get(&key.id) else {
            continue;
        };
        let leaf = leaf(open.log, line).map_err(|NotARecord| SealError::Record(key.id))?;
        let hash = Hash::of_leaf(&leaf);
        growth.leaves.push((*key, hash));
        tree.append(hash, |node| growth.nodes.push(node));
    }
    if growth.leaves.is_empty() {
        return Ok(());
    }
    let root = tree.root();
    if !store::grow(connection, open.log, &open.head, &growth, root).await? {
        return Err(SealError::Moved);
    }
    open.head.size = tree.size();
    open.head.root = root;
    open.tree = tree;
    Ok(())
}

async fn in_time<T>(work: impl Future<Output = Result<T, SealError>>) -> Result<T, SealError> {
    timeout(TIMEOUT, work).await.unwrap_or(Err(SealError::Late))
}

async fn read_status(pool: &Pool, distributor: &Distributor) -> sqlx::Result<Vec<LogStatus>> {
    let mut connection = pool.acquire().await?;
    let mut logs = Vec::new();
    for log in Log::ALL {
        let Some(head) = store::head(&mut *connection, log).await? else {
            continue;
        };
        let mut known = store::witnesses(&mut *connection, log).await?;
        let witnesses = distributor.names().map(|name| {
            let found = known.iter().position(|it| it.name == name);
            found.map_or_else(|| WitnessStatus::unknown(name), |at| known.swap_remove(at))
        });
        let witnesses = witnesses.collect();
        let unsealed = store::count_newer(&mut *connection, log, LogStatus::MOST).await?;
        logs.push(LogStatus {
            log,
            size: head.size,
            unsealed,
            checkpoint_size: head.signed.as_ref().map_or(0, |signed| signed.size),
            checkpoint_at: head.signed.map(|signed| signed.at),
            witnesses,
        });
    }
    Ok(logs)
}
