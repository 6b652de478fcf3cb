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
            match self.destroy_own(id).await {
                Ok(true) => {
                    transaction.commit().await?;
                    tracing::warn!(key = %id, "destroyed a key of a change that failed");
                    destroyed += 1;
                }
                Ok(false) => {
                    tracing::error!(key = %id, "the database names a key of another program as that of a change that failed: it stays");
                    left.push(id);
                }
                Err(error) => {
                    tracing::warn!(key = %id, ?error, "a token did not destroy a key of a change that failed");
                    left.push(id);
                }
            }
        }
    }

    /// Destroys the objects of a key whose class is unknown. False, and nothing is destroyed, where one of
    /// them has another label than those that Sealward makes: whoever writes to the database can name any
    /// object of the token, such as an adopted key whose record was changed.
    async fn destroy_own(&self, id: KeyId) -> Result<bool, HsmError> {
        let name = KeyName::Id(id.uuid().as_bytes().to_vec());
        let label = id.to_string();
        let objects = self.token.inventory().await?;
        let mut named = objects.iter().filter(|object| object.key.name == name);
        if !named.all(|object| object.label == label) {
            return Ok(false);
        }
        for class in KeyClass::EACH {
            self.destroy(&KeyRef { name: name.clone(), class }).await?;
        }
        Ok(true)
    }
}
