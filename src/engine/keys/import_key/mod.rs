//! The wrapping keys of imports: each is valid for one day, one import and a few attempts.

mod store;

use std::time::Duration;

use formats::algorithms::ImportMechanism;
use hsm::KeyRef;
use sqlx::{PgConnection, PgExecutor};

use super::{Vault, VaultError};
use crate::ids::ImportKeyId;
use formats::clock::Timestamp;
use formats::material::PublicKey;

/// The record of a wrapping key.
#[derive(Clone, Debug)]
pub struct ImportKeyRecord {
    /// Its identifier.
    pub id: ImportKeyId,
    /// The wrapping mechanism.
    pub mechanism: ImportMechanism,
    pub public: PublicKey,
    /// The expiry time.
    pub expires_at: Timestamp,
    /// The creation time.
    pub created_at: Timestamp,
}

impl ImportKeyRecord {
    /// The validity period.
    pub(crate) const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
    /// The maximum number of attempts to unwrap.
    pub const ATTEMPTS: i32 = 3;

    /// Counts an attempt before the token unwraps. None if no attempt is left.
    pub(super) async fn attempt(
        database: impl PgExecutor<'_>,
        id: ImportKeyId,
        now: Timestamp,
    ) -> sqlx::Result<Option<Usable>> {
        store::attempt_import(database, id, now, Self::ATTEMPTS).await
    }

    /// The wrapping key, if it can still unwrap a key.
    pub(super) async fn usable(
        database: impl PgExecutor<'_>,
        id: ImportKeyId,
        now: Timestamp,
    ) -> sqlx::Result<Option<Usable>> {
        store::usable_import_key(database, id, now, Self::ATTEMPTS).await
    }

    /// Records a wrapping key and removes its intent.
    pub async fn insert(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        store::insert_import_key(connection, self).await
    }

    /// Destroys the wrapping keys that are no longer usable. Returns their number.
    ///
    /// # Errors
    /// The token or the database fails. The next run finds the remaining keys.
    pub(crate) async fn destroy_spent(vault: &Vault) -> Result<usize, VaultError> {
        let mut destroyed = 0;
        loop {
            let mut transaction = vault.pool.begin().await?;
            let now = vault.clock.now();
            let found = store::lock_spent_import_key(&mut transaction, now, Self::ATTEMPTS).await?;
            let Some(id) = found else {
                return Ok(destroyed);
            };
            let key = KeyRef::private(*id.uuid().as_bytes());
            vault.destroy(&key).await?;
            store::bury_import_key(&mut transaction, id, now).await?;
            transaction.commit().await?;
            destroyed += 1;
        }
    }

    /// Marks a wrapping key as used by the recorded import. False if it is used already.
    pub(crate) async fn spend(
        connection: &mut PgConnection,
        id: ImportKeyId,
        now: Timestamp,
    ) -> sqlx::Result<bool> {
        store::spend_import_key(connection, id, now).await
    }
}

/// A wrapping key that can still unwrap a key.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(super) struct Usable {
    pub(super) mechanism: ImportMechanism,
    pub(super) expires_at: Timestamp,
}
