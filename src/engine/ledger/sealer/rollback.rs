//! Whether the database was rolled back: then rows that count can be former ones.

use std::time::Duration;

use tokio::time::timeout;

use super::Sealer;
use super::history::{largest_tree, sealed_origin};
use crate::ledger::Log;
use crate::ledger::head::Head;
use crate::ledger::key::SigningKey;
use crate::ledger::seal_error::SealError;
use crate::ledger::store;

/// The time for the comparison at the start.
const START_TIMEOUT: Duration = Duration::from_secs(5);

impl Sealer {
    /// Compares the logs with their checkpoints before the first request. With a witness as anchor, and if the database
    /// does not answer, the first round compares. Until then, requests of applications are refused.
    pub async fn compare_at_start(&mut self) {
        self.pool.seals().suspect(true);
        if self.distributor.anchor().is_some() {
            return;
        }
        let compared = timeout(START_TIMEOUT, self.stand_by()).await;
        match compared.unwrap_or(Err(SealError::Late)) {
            Err(SealError::Database(_) | SealError::Late) => {}
            compared => self.note_history(&compared),
        }
    }

    /// Notes what a round has found. One that could not compare leaves what the former ones have found.
    pub(super) fn note_history(&mut self, round: &Result<(), SealError>) {
        let has_anchor = self.anchor.is_some() || self.distributor.anchor().is_some();
        match round {
            Ok(()) | Err(SealError::NotInitialized) => (self.is_suspect, self.fork) = (false, None),
            Err(SealError::Fork(fork)) => {
                (self.is_suspect, self.fork) = (true, Some(fork.clone()));
            }
            Err(SealError::Absent(_)) => self.is_suspect = true,
            // The database was changed so that it cannot be compared with the anchor.
            Err(
                SealError::Broken(_)
                | SealError::Origin(_)
                | SealError::NoOrigin(_)
                | SealError::Rows
                | SealError::Forged { .. },
            ) => self.is_suspect |= has_anchor,
            Err(
                SealError::Database(_)
                | SealError::Late
                | SealError::Renewed
                | SealError::Moved(_)
                | SealError::Untrusted(_)
                | SealError::Anchor(_)
                | SealError::NeedsEd25519
                | SealError::NeedsCosigner
                | SealError::NotSigned(_),
            ) => {}
        }
        self.pool.seals().suspect(self.is_suspect);
    }

    /// Compares each log with the anchor file and with what this process remembers. Only the instance that seals asks
    /// the witness of `audit.seal.anchor`.
    pub(super) async fn compare(&self) -> Result<(), SealError> {
        let keys = store::keys(self.pool.rows()).await?;
        for log in Log::ALL {
            let mut snapshot = self.pool.snapshot().await?;
            match store::head(&mut *snapshot, log).await? {
                Some(head) => {
                    sealed_origin(self.pool.rows_on(&mut snapshot), log, &head).await?;
                    snapshot.rollback().await?;
                    self.compare_log(log, &head, &keys).await?;
                }
                None => {
                    snapshot.rollback().await?;
                    self.check_absent(log).await?;
                }
            }
        }
        Ok(())
    }

    async fn compare_log(
        &self,
        log: Log,
        before: &Head,
        keys: &[SigningKey],
    ) -> Result<(), SealError> {
        let anchored = match self.anchored(log, before, keys).await {
            // The instance that seals reports it.
            Err(SealError::Anchor(_)) => None,
            anchored => anchored?,
        };
        let known = [anchored, self.remembered(log, before)];
        let known: Vec<_> = known.into_iter().flatten().collect();
        // A log is at least as large as its checkpoint before the anchor gets that.
        let mut connection = self.pool.acquire().await?;
        let head = store::head(&mut *connection, log).await?;
        let Some(head) = head.filter(|head| head.origin == before.origin) else {
            return Ok(());
        };
        largest_tree(&mut connection, log, &head, &known).await?;
        let signed = head.signed.as_ref().map_or(0, |signed| signed.size);
        match &self.fork {
            // An instance that has asked the witness signs a larger checkpoint only if the log extends that of the witness.
            Some(fork)
                if (fork.log, &fork.origin) == (log, &head.origin) && signed <= fork.size =>
            {
                Err(fork.clone().into())
            }
            _ => Ok(()),
        }
    }

    /// Fails if the anchor has a checkpoint of a log that the database does not have.
    pub(super) async fn check_absent(&self, log: Log) -> Result<(), SealError> {
        match &self.anchor {
            Some(anchor) if anchor.knows(log).await? => Err(SealError::Absent(log)),
            _ => Ok(()),
        }
    }
}
