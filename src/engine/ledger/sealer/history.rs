//! Compares a log with each checkpoint of it that is known: what the database loses is found here.

use sqlx::PgConnection;

use super::Sealer;
use super::growth::OpenLog;
use crate::ledger::Log;
use crate::ledger::anchor::AnchorError;
use crate::ledger::head::Head;
use crate::ledger::key::{NotSigned, SigningKey};
use crate::ledger::seal_error::SealError;
use crate::ledger::store;
use crate::ledger::tree::extends;
use crate::ledger::witness::{NotCosigned, Witness};
use formats::tlog::{Checkpoint, Hash, Note, Signature};

impl Sealer {
    /// Compares a log with the witness of `audit.seal.anchor`. What the witness has cosigned was in the
    /// database before.
    pub(super) async fn compare(
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
            Err(SealError::Fork { size, .. }) if signed < size && size <= open.head.size => {
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
        let (log, place) = (open.log, "audit.seal.anchor");
        let Ok(note) = note.parse::<Note>() else {
            return Err(SealError::Forged { log, place });
        };
        let checkpoint = (&note, size);
        let answer = witness.cosign(&self.pool, log, checkpoint, before).await;
        let status = witness.status(size, &answer);
        store::put_witness(&self.pool, log, &status).await?;
        match answer {
            Ok(signature) => Ok(signature),
            Err(NotCosigned::Ahead(size)) => Err(SealError::Fork { log, size, place }),
            Err(NotCosigned::Inconsistent) => Err(SealError::Fork { log, size, place }),
            Err(error) => Err(SealError::Anchor(AnchorError::Witness {
                name: witness.key.name().to_owned(),
                reason: error.to_string(),
            })),
        }
    }

    /// Remembers the latest checkpoints that another instance has signed.
    pub(super) async fn remember(&mut self) -> Result<(), SealError> {
        let keys = store::keys(self.pool.rows()).await?;
        for log in Log::ALL {
            let Some(head) = store::head(&self.pool, log).await? else {
                continue;
            };
            let note = head.signed.as_ref().map(|signed| signed.note.as_str());
            // The instance that seals reports a checkpoint that is not valid.
            let Some(Ok(Some(latest))) = note.map(|it| own(it, &head, &keys, log, "the database"))
            else {
                continue;
            };
            let place = (log, latest.origin.clone());
            if self.known.get(&place).is_none_or(|it| it.size < latest.size) {
                self.known.insert(place, latest);
            }
        }
        Ok(())
    }

    /// Checks that a log extends each checkpoint that is known.
    pub(super) async fn check(
        &self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
    ) -> Result<(), SealError> {
        let anchored = match &self.anchor {
            Some(anchor) => anchor.read(open.log, &open.head.origin).await?,
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
        let remembered = self.known.get(&(open.log, open.head.origin.clone()));
        known.extend(remembered.cloned().map(|it| (it, "memory")));
        for (checkpoint, place) in known {
            let (size, head) = (checkpoint.size, &open.head);
            let (old, new) = ((size, checkpoint.root), (head.size, head.root));
            // The head is a row: nodes that the log does not have yet can be inserted for it.
            if !extends(connection, open.log, old, new).await? {
                return Err(SealError::Fork { log: open.log, size, place });
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
    let verifiers = keys.iter().filter_map(|key| key.verifier(&head.origin).ok());
    let mut opened = verifiers.filter_map(|key| Checkpoint::open(note, &key).ok());
    let checkpoint = opened.next().ok_or(SealError::Forged { log, place })?;
    Ok(Some(checkpoint))
}
