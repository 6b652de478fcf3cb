//! The wrapping keys of imports: each is valid for one day, one import and a few attempts.

mod store;

use std::time::Duration;

use formats::algorithms::ImportMechanism;
use hsm::KeyRef;
use sqlx::PgConnection;

use super::{Vault, VaultError};
use crate::db::Pool;
use crate::ids::ImportKeyId;
use crate::resource::{self, Deprivable, Rows, Stored as _};
use crate::revision::Revision;
use crate::row;
use crate::seals::{SealComparison, What};
use formats::clock::Timestamp;
use formats::material::PublicKey;

row! {
    /// The record of a wrapping key.
    pub struct ImportKeyRecord(ImportKeyId) in "import_keys", kept: true {
        /// The wrapping mechanism.
        mechanism: ImportMechanism;
        /// The public half.
        public_key: PublicKey;
        /// The attempts to unwrap a key with it.
        attempts: i32;
        /// The time of the last attempt.
        attempted_at: Option<Timestamp>;
        /// The time of the import.
        used_at: Option<Timestamp>;
        /// The expiry time.
        expires_at: Timestamp;
        /// The time at which the token lost it.
        destroyed_at: Option<Timestamp>;
        /// The creation time.
        created_at: Timestamp;
    }
}

impl Deprivable for ImportKeyRecord {
    /// Clients would wrap keys under its public half, and the token would destroy the object that it names.
    fn resealed(self, _comparison: SealComparison) -> Option<Self> {
        None
    }
}

impl ImportKeyRecord {
    /// The validity period.
    pub(crate) const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
    /// The maximum number of attempts to unwrap.
    pub const ATTEMPTS: i32 = 3;

    /// A new wrapping key.
    pub(crate) fn new(
        id: ImportKeyId,
        mechanism: ImportMechanism,
        public_key: PublicKey,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            mechanism,
            public_key,
            attempts: 0,
            attempted_at: None,
            used_at: None,
            expires_at: now.plus(Self::LIFETIME),
            destroyed_at: None,
            created_at: now,
            revision: Revision::FIRST,
        }
    }

    /// Counts an attempt before the token unwraps. None if no attempt is left.
    pub(super) async fn attempt(
        database: &Pool,
        id: ImportKeyId,
        now: Timestamp,
    ) -> sqlx::Result<Option<Self>> {
        store::attempt_import(database, id, now).await
    }

    /// The wrapping key, if it can still unwrap a key.
    pub(super) async fn usable(
        rows: Rows<&mut PgConnection>,
        id: ImportKeyId,
        now: Timestamp,
    ) -> sqlx::Result<Option<Self>> {
        let found = store::by_id(rows, id).await?;
        Ok(found.filter(|key| key.is_usable(now)))
    }

    /// Whether it can still unwrap a key.
    fn is_usable(&self, now: Timestamp) -> bool {
        let is_living = self.used_at.is_none() && self.destroyed_at.is_none();
        is_living && self.expires_at > now && self.attempts < Self::ATTEMPTS
    }

    /// Records a wrapping key and removes its intent.
    pub async fn insert(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<()> {
        store::insert_import_key(rows, self).await
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
            let rows = vault.pool.rows_on(&mut transaction);
            let Some(spent) = store::lock_spent_import_key(rows, now).await? else {
                return Ok(destroyed);
            };
            let key = KeyRef::private(*spent.id.uuid().as_bytes());
            vault.destroy(&key).await?;
            let buried = Self { destroyed_at: Some(now), ..spent.rewritten() };
            let rows = vault.pool.rows_on(&mut transaction);
            resource::update(rows, &buried, What::Gone).await?;
            transaction.commit().await?;
            destroyed += 1;
        }
    }

    /// Marks a wrapping key as used by the recorded import. False if it is used already.
    pub(crate) async fn spend(
        rows: Rows<&mut PgConnection>,
        id: ImportKeyId,
        now: Timestamp,
    ) -> sqlx::Result<bool> {
        store::spend_import_key(rows, id, now).await
    }
}
