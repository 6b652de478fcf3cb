//! Removes what changes that failed left in the tokens.

use std::time::Duration;

use hsm::{HsmError, KeyClass, KeyName, KeyRef};
use sqlx::PgConnection;

use super::{UNDER_WAY, store};
use crate::ids::KeyId;
use crate::keys::Vault;
use crate::keys::store::was_claimed;

/// Less than the time for which the database has the attempts of requests with an `Idempotency-Key`.
/// A missing attempt in this time has lost its claim. It also limits for how long somebody can put back an intent.
const REMOVABLE: Duration = Duration::from_secs(23 * 60 * 60);

impl Vault {
    /// Destroys the objects of keys that will never be recorded: of an approved change that failed, and of
    /// a request whose `Idempotency-Key` another request took over. Returns their number. A key that a
    /// token does not destroy now waits for the next run, and is only reported after a day.
    pub async fn destroy_abandoned(&self) -> sqlx::Result<usize> {
        let now = self.clock.now();
        let (after, before) = (now.minus(REMOVABLE), now.minus(UNDER_WAY));
        let mut destroyed = 0;
        let mut left = Vec::new();
        loop {
            let mut transaction = self.pool.begin().await?;
            // The transaction that records a key removes the intent too, so only one of both succeeds.
            let taken = store::take_abandoned(&mut transaction, after, before, &left).await?;
            let Some((intent, mac)) = taken else {
                return Ok(destroyed);
            };
            let id = KeyId::from_uuid(intent.id);
            if !intent.is_authentic(self.pool.seals(), &mac).await? {
                tracing::error!(key = %id, "no instance wrote the intent of a key of a change that failed: its object stays");
                left.push(intent.id);
                continue;
            }
            match self.destroy_own(&mut transaction, id).await? {
                Ok(true) => {
                    transaction.commit().await?;
                    tracing::warn!(key = %id, "destroyed a key of a change that failed");
                    destroyed += 1;
                }
                Ok(false) => {
                    tracing::error!(key = %id, "the database names a key of another program or record as that of a change that failed: it stays");
                    left.push(intent.id);
                }
                Err(error) => {
                    tracing::warn!(key = %id, ?error, "a token did not destroy a key of a change that failed");
                    left.push(intent.id);
                }
            }
        }
    }

    /// Destroys the objects of a key whose class is unknown. False, and nothing is destroyed, where a record ever named
    /// them, such as that of a key that was adopted after a restore, or where one of them has another label than those
    /// that Sealward makes.
    async fn destroy_own(
        &self,
        connection: &mut PgConnection,
        id: KeyId,
    ) -> sqlx::Result<Result<bool, HsmError>> {
        let name = KeyName::Id(id.uuid().as_bytes().to_vec());
        let label = id.to_string();
        for name in [&name, &KeyName::Label(label.clone())] {
            if was_claimed(&mut *connection, name).await? {
                return Ok(Ok(false));
            }
        }
        Ok(self.destroy_labelled(&name, &label).await)
    }

    async fn destroy_labelled(&self, name: &KeyName, label: &str) -> Result<bool, HsmError> {
        let objects = self.token.inventory().await?;
        let mut named = objects.iter().filter(|object| object.key.name == *name);
        if !named.all(|object| object.label == label) {
            return Ok(false);
        }
        for class in KeyClass::EACH {
            self.destroy(&KeyRef { name: name.clone(), class }).await?;
        }
        Ok(true)
    }
}
