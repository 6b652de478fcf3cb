//! Removes what changes that failed left in the tokens.

use std::time::Duration;

use hsm::{KeyClass, KeyName, KeyRef};

use super::{NotCompared, UNDER_WAY, store};
use crate::ids::KeyId;
use crate::keys::Vault;

/// Less than the time for which the database has the attempts of requests with an `Idempotency-Key`.
/// A missing attempt in this time has lost its claim.
const CLAIMS_KEPT: Duration = Duration::from_secs(23 * 60 * 60);

impl Vault {
    /// Destroys the objects of keys that will never be recorded: of an approved change that failed, and of
    /// a request whose `Idempotency-Key` another request took over. Returns their number.
    ///
    /// # Errors
    /// A token or the database fails. The next run finds the remaining objects.
    pub async fn destroy_abandoned(&self) -> Result<usize, NotCompared> {
        let now = self.clock.now();
        let (kept, oldest) = (now.minus(CLAIMS_KEPT), now.minus(UNDER_WAY));
        let mut destroyed = 0;
        loop {
            let mut transaction = self.pool.begin().await?;
            // The transaction that records a key removes the intent too, so only one of both succeeds.
            let Some(id) = store::take_abandoned(&mut transaction, kept, oldest).await? else {
                return Ok(destroyed);
            };
            self.destroy_any(id).await?;
            transaction.commit().await?;
            tracing::warn!(key = %id, "destroyed a key of a change that failed");
            destroyed += 1;
        }
    }

    /// Destroys the objects of a key whose class is unknown.
    async fn destroy_any(&self, id: KeyId) -> Result<(), NotCompared> {
        for class in KeyClass::EACH {
            let name = KeyName::Id(id.uuid().as_bytes().to_vec());
            self.destroy(&KeyRef { name, class }).await?;
        }
        Ok(())
    }
}
