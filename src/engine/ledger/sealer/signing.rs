//! Checkpoints of the head.

use sqlx::PgConnection;
use tokio::time::Instant;

use super::Sealer;
use super::growth::{OpenLog, Unsigned, check_unmoved};
use super::history::check_extends;
use crate::ledger::anchor::AnchorError;
use crate::ledger::head::Signed;
use crate::ledger::key::SigningKey;
use crate::ledger::seal_error::SealError;
use crate::ledger::store;
use formats::clock::Timestamp;
use formats::tlog::Checkpoint;

impl Sealer {
    /// Signs and stores a checkpoint of the head, unless there is one. Also then, a head that moved is an error. Records
    /// are sealed without a checkpoint while the token or the witness of the anchor is out.
    pub(super) async fn sign_in_turn(
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
            return check_unmoved(connection, open).await;
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

    pub(super) async fn sign(
        &mut self,
        connection: &mut PgConnection,
        keys: &[SigningKey],
        open: &mut OpenLog,
        now: Timestamp,
    ) -> Result<(), SealError> {
        check_unmoved(connection, open).await?;
        let held = match &self.anchor {
            Some(anchor) => Some(anchor.hold().await?),
            None => None,
        };
        let known = self.known_checkpoints(keys, open).await?;
        check_extends(connection, open, &known).await?;
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
        self.know(open.log, checkpoint, now);
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
