//! The job that publishes checkpoints. It runs beside the sealer and never delays it.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::head::Signed;
use super::{Log, store};
use crate::db::Pool;
use crate::settings::Seal;
use crate::tlog::{Checkpoint, SignatureKind};

/// The time after which a statement has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Distributes the checkpoints of the instance that seals.
#[derive(Clone, Debug)]
pub(super) struct Distributor {
    pool: Pool,
    interval: Duration,
    /// The interval of publication, if checkpoints are published.
    publish: Option<Duration>,
}

impl Distributor {
    pub(super) fn new(pool: Pool, settings: &Seal) -> Self {
        Self {
            pool,
            interval: settings.interval.0,
            publish: settings.publish.then_some(settings.publish_interval.0),
        }
    }

    /// Whether it has something to do.
    pub(super) fn is_needed(&self) -> bool {
        self.publish.is_some()
    }

    /// Distributes checkpoints until it is dropped.
    pub(super) async fn run(&self) -> Infallible {
        loop {
            if self.is_needed() {
                for log in Log::ALL {
                    let done = timeout(TIMEOUT, self.distribute(log)).await;
                    // The sealer reports failures of the database.
                    if let Ok(Err(error)) = done {
                        tracing::debug!(%error, %log, "the checkpoint was not distributed");
                    }
                }
            }
            sleep(self.interval).await;
        }
    }

    /// Distributes the latest checkpoint of a log.
    async fn distribute(&self, log: Log) -> sqlx::Result<()> {
        let Some(head) = store::head(&self.pool, log).await? else {
            return Ok(());
        };
        // The checkpoint of an empty log would delay the first useful one.
        let Some(signed) = head.signed.as_ref().filter(|signed| signed.size > 0) else {
            return Ok(());
        };
        if !self.has_ed25519_signature(signed, &head.origin).await? {
            return Ok(());
        }
        if let Some(interval) = self.publish {
            store::publish(&self.pool, log, &head.origin, signed, interval).await?;
        }
        Ok(())
    }

    /// Whether clients of public logs can verify the checkpoint.
    async fn has_ed25519_signature(&self, signed: &Signed, origin: &str) -> sqlx::Result<bool> {
        let keys = store::keys(&self.pool).await?;
        let mut keys = keys.iter().filter_map(|key| key.verifier(origin).ok());
        Ok(keys.any(|key| {
            key.kind() == SignatureKind::Ed25519 && Checkpoint::open(&signed.note, &key).is_ok()
        }))
    }
}
