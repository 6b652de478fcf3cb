//! The job that asks witnesses for cosignatures and publishes checkpoints. It runs beside the sealer
//! and never delays it.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{join_all, select_all};
use tokio::time::{Instant, sleep};

use super::head::{Head, Signed};
use super::status::WitnessStatus;
use super::witness::{InvalidWitness, Witness, witnesses};
use super::{Log, store};
use crate::db::Pool;
use crate::settings::{Seal, SealAnchor};
use formats::tlog::{Checkpoint, Note, SignatureKind};

/// The time after which a witness that failed is asked again.
const PAUSE: Duration = Duration::from_secs(30);

/// Distributes the checkpoints of the instance that seals.
#[derive(Clone, Debug)]
pub(super) struct Distributor {
    pool: Pool,
    interval: Duration,
    pause: Duration,
    /// The interval of publication, if checkpoints are published.
    publish: Option<Duration>,
    witnesses: Vec<Witness>,
    /// The name of the witness of `audit.seal.anchor`.
    anchor: Option<String>,
    answers: Answers,
}

/// The latest answers that this process got, by log and witness. Clones share them. The login of the service can
/// change those in the database.
#[derive(Clone, Debug, Default)]
struct Answers(Arc<Mutex<BTreeMap<(Log, String), WitnessStatus>>>);

/// The witnesses that failed, by name, and when they are asked again.
type Failed = HashMap<String, Instant>;

impl Distributor {
    pub(super) fn new(pool: Pool, settings: &Seal) -> Result<Self, InvalidWitness> {
        Ok(Self {
            pool,
            interval: settings.interval.0,
            pause: PAUSE.min(settings.interval.0 * 30),
            publish: settings.publish.then_some(settings.publish_interval.0),
            witnesses: witnesses(&settings.witnesses)?,
            anchor: match &settings.anchor {
                Some(SealAnchor::Witness(name)) => Some(name.clone()),
                Some(SealAnchor::File(_)) | None => None,
            },
            answers: Answers::default(),
        })
    }

    /// The state of each witness: its latest answer to this process, and else what `stored` says.
    pub(super) fn witnesses(&self, log: Log, stored: &[WitnessStatus]) -> Vec<WitnessStatus> {
        let answers = self.answers.lock();
        let state = |name: &str| {
            let stored = stored.iter().find(|it| it.name == name).cloned();
            let stored = stored.unwrap_or_else(|| WitnessStatus::unknown(name));
            match answers.get(&(log, name.to_owned())) {
                Some(known) if known.cosigned_at.is_some() => known.clone(),
                Some(known) => WitnessStatus { failure: known.failure.clone(), ..stored },
                None => stored,
            }
        };
        self.names().map(state).collect()
    }

    /// Notes the answer of a witness.
    pub(super) async fn note(&self, log: Log, answer: WitnessStatus) -> sqlx::Result<()> {
        self.answers.note(log, &answer);
        store::put_witness(&self.pool, log, &answer).await
    }

    /// Forgets the answers, because another instance gets them from now on.
    pub(super) fn forget(&self) {
        self.answers.lock().clear();
    }

    /// Whether it has something to do.
    pub(super) fn is_needed(&self) -> bool {
        self.publish.is_some() || !self.witnesses.is_empty()
    }

    /// The names of the witnesses.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.witnesses.iter().map(|witness| witness.key.name())
    }

    /// The witness of `audit.seal.anchor`.
    pub(super) fn anchor(&self) -> Option<&Witness> {
        let name = self.anchor.as_deref()?;
        self.witnesses.iter().find(|it| it.key.name() == name)
    }

    /// The time after which a witness that failed is asked again.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Distributes checkpoints until it is dropped.
    pub(super) async fn run(&self) -> Infallible {
        if !self.is_needed() {
            return std::future::pending().await;
        }
        let logs = Log::ALL.map(|log| Box::pin(self.follow(log)));
        select_all(logs).await.0
    }

    async fn follow(&self, log: Log) -> Infallible {
        let mut failed = Failed::new();
        loop {
            // The sealer reports failures of the database.
            if let Err(error) = self.distribute(log, &mut failed).await {
                tracing::debug!(%error, %log, "the checkpoint was not distributed");
            }
            sleep(self.interval).await;
        }
    }

    /// Distributes the latest checkpoint of a log.
    async fn distribute(&self, log: Log, failed: &mut Failed) -> sqlx::Result<()> {
        let Some(head) = store::head(&self.pool, log).await? else {
            return Ok(());
        };
        // The checkpoint of an empty log would delay the first useful one.
        let Some(signed) = head.signed.as_ref().filter(|signed| signed.size > 0) else {
            return Ok(());
        };
        let Ok(note) = signed.note.parse::<Note>() else {
            return Ok(());
        };
        if !self.has_ed25519_signature(signed, &head.origin).await? {
            return Ok(());
        }
        let cosigned = self.cosign(log, &head, signed, &note, failed).await?;
        if let Some(interval) = self.publish {
            store::publish(&self.pool, log, &head.origin, &cosigned, interval).await?;
        }
        Ok(())
    }

    /// Whether clients of public logs can verify the checkpoint.
    async fn has_ed25519_signature(&self, signed: &Signed, origin: &str) -> sqlx::Result<bool> {
        let keys = store::keys(self.pool.rows()).await?;
        let mut keys = keys.iter().filter_map(|key| key.verifier(origin).ok());
        Ok(keys.any(|key| {
            key.kind() == SignatureKind::Ed25519 && Checkpoint::open(&signed.note, &key).is_ok()
        }))
    }

    /// Asks the witnesses that have not cosigned the checkpoint, all at once. Returns the checkpoint
    /// with their cosignatures.
    async fn cosign(
        &self,
        log: Log,
        head: &Head,
        signed: &Signed,
        note: &Note,
        failed: &mut Failed,
    ) -> sqlx::Result<Signed> {
        let now = Instant::now();
        let is_due = |witness: &&Witness| {
            let is_paused = failed.get(witness.key.name()).is_some_and(|at| *at > now);
            !is_paused && !note.is_signed_by(&witness.key)
        };
        let due: Vec<&Witness> = self.witnesses.iter().filter(is_due).collect();
        if due.is_empty() {
            return Ok(signed.clone());
        }
        let known = store::witnesses(&self.pool, log).await?;
        let checkpoint = (note, signed.size);
        let answers = join_all(due.iter().map(|witness| {
            let known = known.iter().find(|it| it.name == witness.key.name());
            let old = known.map_or(0, |it| it.size);
            witness.cosign(&self.pool, log, checkpoint, old)
        }))
        .await;
        let mut cosigned = note.clone();
        for (witness, answer) in due.iter().zip(answers) {
            let name = witness.key.name();
            let status = witness.status(signed.size, &answer);
            self.note(log, status).await?;
            match answer {
                Ok(signature) => {
                    failed.remove(name);
                    cosigned = cosigned.clone().with(signature).unwrap_or(cosigned);
                }
                Err(error) => {
                    let before = failed.insert(name.to_owned(), Instant::now() + self.pause);
                    if before.is_none() {
                        tracing::warn!(%error, witness = name, %log, "a checkpoint was not cosigned");
                    }
                }
            }
        }
        let cosigned = Signed { note: cosigned.to_string(), ..signed.clone() };
        if cosigned.note != signed.note {
            let plain = &signed.note;
            store::put_cosigned(&self.pool, log, &head.origin, plain, &cosigned).await?;
        }
        Ok(cosigned)
    }
}

impl Answers {
    /// After a failure, the latest cosignature stays.
    fn note(&self, log: Log, answer: &WitnessStatus) {
        let mut answers = self.lock();
        let noted = answers.entry((log, answer.name.clone())).or_insert_with(|| answer.clone());
        match &answer.failure {
            Some(failure) => noted.failure = Some(failure.clone()),
            None => *noted = answer.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Log, String), WitnessStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
