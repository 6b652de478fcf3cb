//! Compares a log with each checkpoint of it that is known: what the database loses is found here.

use sqlx::PgConnection;
use uuid::Uuid;

use super::Sealer;
use super::growth::OpenLog;
use crate::ledger::Log;
use crate::ledger::anchor::AnchorError;
use crate::ledger::head::Head;
use crate::ledger::key::{NotSigned, SigningKey};
use crate::ledger::seal_error::{Fork, SealError};
use crate::ledger::sealed_rows::LogOrigin;
use crate::ledger::store;
use crate::ledger::tree::{extends, root_at};
use crate::ledger::witness::{NotCosigned, Witness};
use crate::resource::Rows;
use crate::seals::{Flaw, RowName};
use formats::clock::Timestamp;
use formats::tlog::{Checkpoint, Hash, Note, Signature};

/// The latest checkpoint of a log that this process has signed or verified.
#[derive(Clone, Debug)]
pub(super) struct LatestCheckpoint {
    pub(super) checkpoint: Checkpoint,
    /// When it was new, by the clock of this process. Of the first one, the database says when it was signed.
    pub(super) at: Timestamp,
}

/// Where the checkpoint of the anchor is.
pub(super) const ANCHOR: &str = "audit.seal.anchor";

/// A checkpoint of a log, and where it is.
pub(super) type KnownCheckpoint = (Checkpoint, &'static str);

impl Sealer {
    /// Remembers a checkpoint that is larger than those before.
    pub(super) fn know(&mut self, log: Log, checkpoint: Checkpoint, signed_at: Timestamp) {
        let place = (log, checkpoint.origin.clone());
        let (before, now) = (self.known.get(&place), self.status.now());
        let at = before.map_or(signed_at.min(now), |_| now);
        if before.is_none_or(|it| it.checkpoint.size < checkpoint.size) {
            self.known.insert(place, LatestCheckpoint { checkpoint, at });
        }
    }

    /// Compares a log with the witness of `audit.seal.anchor`. What the witness has cosigned was in the
    /// database before.
    pub(super) async fn compare_with_witness(
        &mut self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
    ) -> Result<(), SealError> {
        let Some(witness) = self.distributor.anchor() else {
            return Ok(());
        };
        let (note, signed) = match &open.head.signed {
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
        match self.ask(witness, open, (&note, signed), signed).await {
            // The process that asked the witness ended before it stored the checkpoint.
            Err(SealError::Fork(Fork { size, .. })) if signed < size && size <= open.head.size => {
                let now = store::now(&mut *connection).await?;
                self.sign(connection, keys, open, now).await
            }
            answer => answer.map(|_| ()),
        }
    }

    /// The checkpoint of the head with the cosignature of the witness of `audit.seal.anchor`. The witness
    /// cosigns one history only, also if two databases accept writes.
    pub(super) async fn confirmed(
        &self,
        witness: &Witness,
        open: &OpenLog,
        note: &str,
    ) -> Result<String, SealError> {
        let before = open.head.signed.as_ref().map_or(0, |signed| signed.size);
        let checkpoint = (note, open.head.size);
        let signature = self.ask(witness, open, checkpoint, before).await?;
        let cosigned = note.parse::<Note>().and_then(|note| note.with(signature));
        let cosigned = cosigned.map_err(|_| SealError::NotSigned(NotSigned::Invalid))?;
        Ok(cosigned.to_string())
    }

    /// Asks the witness of `audit.seal.anchor` for its cosignature of a checkpoint. `before` is the size
    /// of the tree that it has probably cosigned.
    async fn ask(
        &self,
        witness: &Witness,
        open: &OpenLog,
        (note, size): (&str, u64),
        before: u64,
    ) -> Result<Signature, SealError> {
        let log = open.log;
        let Ok(note) = note.parse::<Note>() else {
            return Err(SealError::Forged { log, place: ANCHOR });
        };
        let checkpoint = (&note, size);
        let answer = witness.cosign(&self.pool, log, checkpoint, before).await;
        let status = witness.status(size, &answer);
        self.distributor.note(log, status).await?;
        answer.map_err(|error| not_cosigned(witness, (log, &open.head), size, &error))
    }

    /// Remembers the latest checkpoints that another instance has signed.
    pub(super) async fn remember(&mut self) -> Result<(), SealError> {
        let keys = store::keys(self.pool.rows()).await?;
        for log in Log::ALL {
            let Some(head) = store::head(&self.pool, log).await? else {
                continue;
            };
            let Some(signed) = &head.signed else {
                continue;
            };
            // The instance that seals reports a checkpoint that is not valid.
            if let Ok(Some(latest)) = own(&signed.note, &head, &keys, log, "the database") {
                self.know(log, latest, signed.at);
            }
        }
        Ok(())
    }

    /// The checkpoint of a log in the anchor file.
    pub(super) async fn anchored_note(
        &self,
        log: Log,
        head: &Head,
    ) -> Result<Option<String>, AnchorError> {
        match &self.anchor {
            Some(anchor) => anchor.read(log, &head.origin).await,
            None => Ok(None),
        }
    }

    /// The latest checkpoint of a log that this process knows.
    pub(super) fn remembered(&self, log: Log, head: &Head) -> Option<KnownCheckpoint> {
        let latest = self.known.get(&(log, head.origin.clone()))?;
        Some((latest.checkpoint.clone(), "memory"))
    }

    /// The checkpoints of a log that are known, and where each of them is.
    pub(super) async fn known_checkpoints(
        &self,
        keys: &[SigningKey],
        open: &mut OpenLog,
    ) -> Result<Vec<KnownCheckpoint>, SealError> {
        let anchored = self.anchored_note(open.log, &open.head).await?;
        let own = |note: &str, place| own(note, &open.head, keys, open.log, place);
        let anchored = anchored.map(|note| own(&note, ANCHOR)).transpose()?.flatten();
        let published = open.head.signed.as_ref().map(|signed| own(&signed.note, "the database"));
        let published = match (published.transpose(), &anchored) {
            // The anchor gets each checkpoint before the database does, so that it has one that is as new.
            (Err(SealError::Forged { .. }), Some(_)) => {
                self.note_forged(open)?;
                None
            }
            (published, _) => published?.flatten(),
        };
        let anchored = anchored.map(|it| (it, ANCHOR));
        let published = published.map(|it| (it, "the database"));
        let remembered = self.remembered(open.log, &open.head);
        Ok([anchored, published, remembered].into_iter().flatten().collect())
    }

    /// Reports a checkpoint in the database that no instance signed. The next one replaces it.
    fn note_forged(&self, open: &mut OpenLog) -> sqlx::Result<()> {
        let log = open.log;
        tracing::error!(%log, "the checkpoint in the database was changed: sealing continues from the anchor");
        let id = Uuid::from_u128(log.number().unsigned_abs().into());
        self.pool.seals().note(RowName { table: "audit_log_heads", id }, Flaw::Forged)?;
        open.head.signed = None;
        Ok(())
    }
}

/// Checks that a log has the tree of each of these checkpoints. Returns the size of the largest one. The nodes that follow
/// can be wrong: whoever gives positions computes them.
pub(super) async fn largest_tree(
    connection: &mut PgConnection,
    log: Log,
    head: &Head,
    known: &[KnownCheckpoint],
) -> Result<u64, SealError> {
    let mut largest = 0;
    for (checkpoint, place) in known {
        let size = checkpoint.size;
        let root = root_at(&mut *connection, log, size.min(head.size)).await?;
        if size > head.size || root != Some(checkpoint.root) {
            return Err(fork(log, head, size, place));
        }
        largest = size.max(largest);
    }
    Ok(largest)
}

/// Checks that the head of a log extends each of these checkpoints.
pub(super) async fn check_extends(
    connection: &mut PgConnection,
    open: &OpenLog,
    known: &[KnownCheckpoint],
) -> Result<(), SealError> {
    for (checkpoint, place) in known {
        let (size, head) = (checkpoint.size, &open.head);
        let (old, new) = ((size, checkpoint.root), (head.size, head.root));
        if !extends(connection, open.log, old, new).await? {
            return Err(fork(open.log, head, size, place));
        }
    }
    Ok(())
}

/// The origin of a log that `audit init` sealed. Under another one, its checkpoints would not be compared.
pub(super) async fn sealed_origin(
    rows: Rows<&mut PgConnection>,
    log: Log,
    head: &Head,
) -> Result<LogOrigin, SealError> {
    let origin = store::origin(rows, log).await?.ok_or(SealError::NoOrigin(log))?;
    match origin.origin == head.origin {
        true => Ok(origin),
        false => Err(SealError::Origin(log)),
    }
}

/// Why the witness of `audit.seal.anchor` did not cosign the checkpoint of `size` records.
pub(super) fn not_cosigned(
    witness: &Witness,
    (log, head): (Log, &Head),
    size: u64,
    error: &NotCosigned,
) -> SealError {
    match error {
        NotCosigned::Ahead(size) => fork(log, head, *size, ANCHOR),
        NotCosigned::Inconsistent => fork(log, head, size, ANCHOR),
        NotCosigned::Away(_)
        | NotCosigned::UnknownLog
        | NotCosigned::UnknownKey
        | NotCosigned::Status(_)
        | NotCosigned::Signature
        | NotCosigned::Size
        | NotCosigned::Hashes
        | NotCosigned::Database(_) => SealError::Anchor(AnchorError::Witness {
            name: witness.key.name().to_owned(),
            reason: error.to_string(),
        }),
    }
}

fn fork(log: Log, head: &Head, size: u64, place: &'static str) -> SealError {
    Fork { log, origin: head.origin.clone(), size, place }.into()
}

/// The checkpoint of a note of this log. None for one of another origin, which `audit init` has replaced.
pub(super) fn own(
    note: &str,
    head: &Head,
    keys: &[SigningKey],
    log: Log,
    place: &'static str,
) -> Result<Option<Checkpoint>, SealError> {
    if note.lines().next() != Some(head.origin.as_str()) {
        return Ok(None);
    }
    let verifiers = keys.iter().filter_map(|key| key.verifier(&head.origin).ok());
    let mut opened = verifiers.filter_map(|key| Checkpoint::open(note, &key).ok());
    let checkpoint = opened.next().ok_or(SealError::Forged { log, place })?;
    Ok(Some(checkpoint))
}
