//! Compares a log with each checkpoint of it that is known: what the database loses is found here.

use sqlx::PgConnection;

use super::Sealer;
use super::growth::OpenLog;
use crate::ledger::Log;
use crate::ledger::anchor::AnchorError;
use crate::ledger::head::Head;
use crate::ledger::key::SigningKey;
use crate::ledger::seal_error::SealError;
use crate::ledger::tree::root_at;
use crate::ledger::witness::NotCosigned;
use crate::tlog::{Checkpoint, Hash, Note};

impl Sealer {
    /// Compares a log with the witness of `audit.seal.anchor`. What the witness has cosigned was in the
    /// database before.
    pub(super) async fn compare(
        &self,
        keys: &[SigningKey],
        open: &OpenLog,
    ) -> Result<(), SealError> {
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

    /// Checks that a log extends each checkpoint that is known.
    pub(super) async fn check(
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
