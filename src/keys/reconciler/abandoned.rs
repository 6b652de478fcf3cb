//! Removes what approved changes that failed left in the tokens.

use hsm::{KeyClass, KeyName, KeyRef};

use super::{NotCompared, UNDER_WAY, store};
use crate::ids::KeyId;
use crate::keys::Vault;

impl Vault {
    /// Destroys the objects of keys that an approved change intended and did not record. Returns their
    /// number.
    ///
    /// # Errors
    /// A token or the database fails. The next run finds the remaining objects.
    pub async fn destroy_abandoned(&self) -> Result<usize, NotCompared> {
        let oldest = self.clock.now().minus(UNDER_WAY);
        let mut destroyed = 0;
        loop {
            let mut transaction = self.pool.begin().await?;
            // The transaction that records a key removes the intent too, so only one of both succeeds.
            let Some(id) = store::take_abandoned(&mut transaction, oldest).await? else {
                return Ok(destroyed);
            };
            self.destroy_both(id).await?;
            transaction.commit().await?;
            tracing::warn!(key = %id, "destroyed a key of an approved change that failed");
            destroyed += 1;
        }
    }

    /// Destroys the object of a key whose class is unknown.
    async fn destroy_both(&self, id: KeyId) -> Result<(), NotCompared> {
        for class in [KeyClass::Private, KeyClass::Secret] {
            let name = KeyName::Id(id.uuid().as_bytes().to_vec());
            self.destroy(&KeyRef { name, class }).await?;
        }
        Ok(())
    }
}
