//! Whether the database was rolled back: then rows that count can be former ones.

use std::time::Duration;

use tokio::time::timeout;

use super::Sealer;
use super::history::{ANCHOR, largest_tree, not_cosigned, own, sealed_origin};
use crate::ledger::Log;
use crate::ledger::head::Head;
use crate::ledger::seal_error::{Fork, SealError};
use crate::ledger::store;
use crate::ledger::witness::NotCosigned;
use formats::tlog::Note;

/// The time for the comparison at the start.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// What this process knows of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum History {
    /// It has not compared the logs with their checkpoints.
    Unknown,
    /// As far as it could compare, the logs extend them.
    Extends,
    /// A log does not extend a checkpoint, or was changed so that it cannot be compared with the anchor.
    Suspect,
}

impl Sealer {
    /// Compares the logs with their checkpoints before the first request. If that fails, a round does it. Until then,
    /// requests of applications are refused.
    pub async fn compare_at_start(&mut self) {
        self.pool.seals().suspect(true);
        let compared = timeout(START_TIMEOUT, self.stand_by()).await;
        self.note_history(&compared.unwrap_or(Err(SealError::Late)));
    }

    /// Notes what a round has found. One that could not compare leaves what the former ones have found.
    pub(super) fn note_history(&mut self, round: &Result<(), SealError>) {
        let has_witness = self.distributor.anchor().is_some();
        let has_anchor = has_witness || self.anchor.is_some();
        self.history = match round {
            Ok(()) => History::Extends,
            // The logs that it knew are gone.
            Err(SealError::NotInitialized) if !self.known.is_empty() => History::Suspect,
            Err(SealError::NotInitialized) => History::Extends,
            Err(SealError::Fork(_) | SealError::Absent(_)) => History::Suspect,
            Err(
                SealError::Broken(_)
                | SealError::Origin(_)
                | SealError::NoOrigin(_)
                | SealError::Rows
                | SealError::Forged { .. },
            ) if has_anchor => History::Suspect,
            // The witness was not asked.
            Err(SealError::Untrusted(_)) if has_witness => History::Suspect,
            Err(SealError::Database(_) | SealError::Late | SealError::Renewed) => return,
            Err(
                SealError::Broken(_)
                | SealError::Origin(_)
                | SealError::NoOrigin(_)
                | SealError::Rows
                | SealError::Forged { .. }
                | SealError::Untrusted(_)
                | SealError::Moved(_)
                | SealError::Anchor(_)
                | SealError::NeedsEd25519
                | SealError::NeedsCosigner
                | SealError::NotSigned(_),
            ) => match self.history {
                History::Unknown | History::Extends => History::Extends,
                History::Suspect => History::Suspect,
            },
        };
        if let Err(SealError::Fork(fork)) = round {
            self.fork = Some(fork.clone());
        }
        self.pool.seals().suspect(self.history == History::Suspect);
    }

    /// `audit init` has given a log this origin: what was found under another one no longer counts.
    pub(super) fn note_origin(&mut self, log: Log, origin: &str) {
        let is_former = |fork: &Fork| fork.log == log && fork.origin != origin;
        if self.fork.take_if(|fork| is_former(fork)).is_some() {
            self.history = History::Unknown;
        }
    }

    /// Compares each log with the anchor file and with what this process remembers.
    pub(super) async fn compare(&self) -> Result<(), SealError> {
        for log in Log::ALL {
            let mut snapshot = self.pool.snapshot().await?;
            let head = store::head(&mut *snapshot, log).await?;
            if let Some(head) = &head {
                sealed_origin(self.pool.rows_on(&mut snapshot), log, head).await?;
            }
            snapshot.rollback().await?;
            match head {
                Some(head) => self.compare_log(log, &head).await?,
                None => self.check_absent(log).await?,
            }
        }
        Ok(())
    }

    async fn compare_log(&self, log: Log, before: &Head) -> Result<(), SealError> {
        let note = match self.anchored_note(log, before).await {
            // The instance that seals reports it.
            Err(_) if self.history == History::Extends => None,
            note => note?,
        };
        // A log has the key of a checkpoint, and is as large, before the anchor gets it.
        let keys = store::keys(self.pool.rows()).await?;
        let anchored = note.map(|note| own(&note, before, &keys, log, ANCHOR)).transpose()?;
        let anchored = anchored.flatten().map(|it| (it, ANCHOR));
        let known = [anchored, self.remembered(log, before)];
        let known: Vec<_> = known.into_iter().flatten().collect();
        let mut connection = self.pool.acquire().await?;
        let head = store::head(&mut *connection, log).await?;
        match head.filter(|head| head.origin == before.origin) {
            Some(head) => largest_tree(&mut connection, log, &head, &known).await.map(|_| ()),
            None => Ok(()),
        }
    }

    /// Fails if the anchor file has a checkpoint of a log that the database does not have.
    async fn check_absent(&self, log: Log) -> Result<(), SealError> {
        match &self.anchor {
            Some(anchor) if anchor.knows(log).await? => Err(SealError::Absent(log)),
            _ => Ok(()),
        }
    }

    /// Compares each log with the witness of `audit.seal.anchor`, while this instance does not seal.
    pub(super) async fn ask_witness(&self) -> Result<(), SealError> {
        let Some(witness) = self.distributor.anchor() else {
            return Ok(());
        };
        for log in Log::ALL {
            let Some(head) = store::head(&self.pool, log).await? else {
                continue;
            };
            let Some(signed) = &head.signed else {
                continue;
            };
            let note: Result<Note, _> = signed.note.parse();
            let note = note.map_err(|_| SealError::Forged { log, place: "the database" })?;
            let size = signed.size;
            let Err(error) = witness.cosign(&self.pool, log, (&note, size), size).await else {
                continue;
            };
            // The instance that seals can have asked meanwhile.
            let now = store::head(&self.pool, log).await?;
            match (error, now) {
                (NotCosigned::Ahead(size), Some(now)) if size <= now.size => {}
                (error, _) => return Err(not_cosigned(witness, (log, &head), size, &error)),
            }
        }
        Ok(())
    }
}
