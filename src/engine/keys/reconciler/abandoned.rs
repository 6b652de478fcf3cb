//! Removes what changes that failed left in the tokens.

use std::time::Duration;

use hsm::{HsmError, KeyClass, KeyName, KeyRef};

use super::{UNDER_WAY, store};
use crate::ids::KeyId;
use crate::keys::Vault;

/// Less than the time for which the database has the attempts of requests with an `Idempotency-Key`.
/// A missing attempt in this time has lost its claim.
const CLAIMS_KEPT: Duration = Duration::from_secs(23 * 60 * 60);

impl Vault {
    /// Destroys the objects of keys that will never be recorded: of an approved change that failed, and of
    /// a request whose `Idempotency-Key` another request took over. Returns their number. A key that a
    /// token does not destroy now waits for the next run.
    pub async fn destroy_abandoned(&self) -> sqlx::Result<usize> {
        let now = self.clock.now();
        let (kept, oldest) = (now.minus(CLAIMS_KEPT), now.minus(UNDER_WAY));
        let mut destroyed = 0;
        let mut left = Vec::new();
        loop {
            let mut transaction = self.pool.begin().await?;
            // The transaction that records a key removes the intent too, so only one of both succeeds.
            let taken = store::take_abandoned(&mut transaction, kept, oldest, &left).await?;
            let Some(id) = taken else {
                return Ok(destroyed);
            };
            if let Err(error) = self.destroy_any(id).await {
                tracing::warn!(key = %id, ?error, "a token did not destroy a key of a change that failed");
                left.push(id);
                continue;
            }
            transaction.commit().await?;
            tracing::warn!(key = %id, "destroyed a key of a change that failed");
            destroyed += 1;
        }
    }

    /// Destroys the objects of a key whose class is unknown.
    async fn destroy_any(&self, id: KeyId) -> Result<(), HsmError> {
        for class in KeyClass::EACH {
            let key = KeyRef { name: KeyName::Id(id.uuid().as_bytes().to_vec()), class };
            self.destroy(&key).await?;
        }
        Ok(())
    }
}
