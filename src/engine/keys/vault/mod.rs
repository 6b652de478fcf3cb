//! Creates and destroys the objects of keys in the token.
//!
//! The object is created before its record. An [intent](intent::Intent) is stored before the token creates the object,
//! and the transaction that records the key removes it. After a crash, each object therefore has a
//! record or an intent. Objects without a record are never used.

mod adopt;
mod canary;
mod expiry;
mod generate;
mod import;
pub(super) mod intent;
pub(super) mod store;
mod unrecorded;

use std::sync::Arc;
use std::time::Duration;

use formats::algorithms::OaepHash;
use hsm::{ErrorKind, HsmError, KeyRef, RecordedKey};
use uuid::Uuid;

use super::{Comparison, Expiring, Key, KeyOrigin, Usage};
use crate::db::Pool;
use crate::ids::{ChangeId, KeyId, ServiceId};
use crate::jobs::{Job, Observed};
use crate::shares::{KEY_CHECKS, Shares};
use formats::clock::{Clock, Entropy};
use formats::material::{Algorithm, Family, PublicKey, PublicParts};
use formats::problem::{Code, Problem};

pub use self::adopt::DescribedKey;
pub use self::import::Wrapped;
use self::intent::{IntendedObject, Intent};
pub use self::unrecorded::{UnrecordedKey, VaultError};

/// How often the tokens are compared with the records.
pub(crate) const COMPARE_EVERY: Duration = Duration::from_secs(60 * 60);

/// The tokens, and the creation of objects in them.
#[derive(Clone)]
pub struct Vault {
    pub(super) token: hsm::Token,
    pub(super) pool: Pool,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    /// The result of the last comparison of tokens and records.
    pub(super) latest: Observed<Comparison>,
    /// The active keys whose expiry was near or past when they were last looked at.
    pub(super) expiring: Observed<Expiring>,
    /// How many keys should have been replaced by their successors.
    overdue: Observed<usize>,
    checks: Shares<Uuid>,
}

/// The owner and the use of a new key.
#[derive(Clone, Copy, Debug)]
pub struct Assignment {
    /// The service that owns it.
    pub service_id: ServiceId,
    /// Its use.
    pub usage: Usage,
    /// The approved change that makes it; none for other keys.
    pub change: Option<ChangeId>,
    /// The attempt of a request with an `Idempotency-Key` that makes it.
    pub attempt: Option<Uuid>,
}

impl Vault {
    /// The vault of these tokens.
    pub fn new(token: hsm::Token, pool: Pool, clock: Clock, entropy: Entropy) -> Self {
        let period = Job::KeyMaintenance.spec().period();
        let compared_for = COMPARE_EVERY + period;
        Self {
            latest: Observed::new(clock.clone(), compared_for, Comparison::default()),
            expiring: Observed::new(clock.clone(), period, Expiring::new()),
            overdue: Observed::new(clock.clone(), period, 0),
            checks: Shares::new(KEY_CHECKS),
            token,
            pool,
            clock,
            entropy,
        }
    }

    /// Checks a key that `owner` brings, on a thread for long work, when few other checks run. Without its caller a check
    /// continues and keeps its turn; one that waits does not begin. None if the check panics.
    pub async fn check<T: Send + 'static>(
        &self,
        owner: Option<Uuid>,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = self.checks.take(owner, 1).await.ok()?;
        let checking = move || {
            let _turn = turn;
            check()
        };
        tokio::task::spawn_blocking(checking).await.ok()
    }

    /// The result of the last comparison of tokens and records, unless it is too old.
    pub fn latest(&self) -> Option<Arc<Comparison>> {
        self.latest.known()
    }

    /// The tokens themselves.
    pub fn token(&self) -> &hsm::Token {
        &self.token
    }

    /// Removes the object of a key that will have no record. If this fails, the reconciler finds the
    /// object later.
    pub async fn discard(&self, unrecorded: UnrecordedKey) {
        let key = unrecorded.token_key();
        // An adopted key remains.
        if unrecorded.is_adopted() {
            return;
        }
        if let Err(error) = self.destroy(&key).await {
            tracing::warn!(key = %unrecorded.id, ?error, "a key that is not recorded remains in the token");
            return;
        }
        if let Err(error) = store::forget_intent(&self.pool, unrecorded.id.uuid()).await {
            tracing::warn!(key = %unrecorded.id, %error, "an intent is left for the reconciler");
        }
    }

    /// Destroys a key on all tokens. A key that is on none of them counts as destroyed.
    pub async fn destroy(&self, key: &KeyRef) -> Result<(), HsmError> {
        unless_missing(self.token.destroy(key).await)
    }

    /// Destroys a recorded key on all tokens. A name that the vendor's tools gave to an adopted key can
    /// name another key by now, which stays.
    pub async fn destroy_recorded(&self, key: &Key) -> Result<(), HsmError> {
        let Some(found) = key.token_key() else {
            return Ok(());
        };
        if key.origin != KeyOrigin::Adopted {
            return self.destroy(&found).await;
        }
        let recorded = RecordedKey {
            algorithm: key.algorithm,
            purpose: key.usage.purpose(),
            public: key.public_key.as_ref().map(|public| public.parts().clone()),
        };
        unless_missing(self.token.destroy_recorded(&found, recorded).await)
    }

    /// Whether a token holds this key.
    pub async fn holds(&self, key: &KeyRef) -> Result<bool, HsmError> {
        match self.token.find(key).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::KeyMissing => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether every token of the settings holds this key.
    pub(crate) async fn is_on_every_token(&self, key: &KeyRef) -> Result<bool, HsmError> {
        let presence = self.token.find(key).await?.presence;
        Ok(presence.iter().all(|token| token.holds == Some(true)))
    }

    /// How many keys should have been replaced, as the last run of the rotation job found, unless it is too
    /// long ago.
    pub fn overdue(&self) -> Option<usize> {
        self.overdue.known().map(|keys| *keys)
    }

    /// Notes how many keys should have been replaced.
    pub(crate) fn note_overdue(&self, keys: usize) {
        self.overdue.set(keys);
    }

    async fn intend(&self, assignment: Assignment) -> sqlx::Result<KeyId> {
        let id = KeyId::new(&self.clock, &self.entropy);
        let intent = Intent::of(id.uuid(), IntendedObject::Key(assignment), self.clock.now());
        store::intend(self.pool.rows(), &intent).await?;
        Ok(id)
    }

    /// Removes the intent if the token certainly created nothing. Otherwise the intent remains for the
    /// reconciler.
    async fn or_forget<T, E: Into<VaultError>>(
        &self,
        id: Uuid,
        unrecorded: Result<T, E>,
    ) -> Result<T, VaultError> {
        let error: VaultError = match unrecorded {
            Ok(unrecorded) => return Ok(unrecorded),
            Err(error) => error.into(),
        };
        let certain = match &error {
            VaultError::Problem(_) | VaultError::Extractable | VaultError::Database(_) => true,
            VaultError::Token(error) => match error.kind() {
                ErrorKind::BadInput | ErrorKind::KeyMissing => true,
                ErrorKind::TokenOut
                | ErrorKind::Busy
                | ErrorKind::Late
                | ErrorKind::Unusable
                | ErrorKind::Refused => false,
            },
        };
        if certain {
            store::forget_intent(&self.pool, id).await?;
        }
        Err(error)
    }

    /// Refuses an RSA envelope key if a token cannot open envelopes with the default algorithm, because
    /// all envelopes would be lost.
    fn must_open(&self, usage: Usage, algorithm: Algorithm) -> Result<(), VaultError> {
        let is_for_oaep = usage == Usage::Enc && algorithm.family() == Family::Rsa;
        if is_for_oaep && !self.token.opens(OaepHash::Sha256) {
            return Err(VaultError::Problem(Problem::new(
                "algorithm",
                Code::Unsupported,
                "must be P-256, P-384 or P-521: a token has not shown that it opens RSA-OAEP with \
                 SHA-256, so envelopes for an RSA key would be lost",
            )));
        }
        Ok(())
    }

    async fn unrecorded(
        &self,
        id: KeyId,
        algorithm: Algorithm,
        key: KeyRef,
        public: Option<PublicParts>,
    ) -> Result<UnrecordedKey, VaultError> {
        let unrecorded =
            UnrecordedKey { id, algorithm, name: key.name, extractable: false, public: None };
        let public = match public.map(PublicKey::new) {
            Some(Ok(public)) => Some(public),
            None if algorithm.is_secret() => None,
            Some(Err(_)) | None => {
                self.discard(unrecorded).await;
                return Err(VaultError::Problem(no_public_half()));
            }
        };
        Ok(UnrecordedKey { public, ..unrecorded })
    }
}

/// A key that no token holds counts as destroyed.
fn unless_missing(destroyed: Result<(), HsmError>) -> Result<(), HsmError> {
    match destroyed {
        Err(error) if error.kind() == ErrorKind::KeyMissing => Ok(()),
        outcome => outcome,
    }
}

fn unlike_half() -> VaultError {
    VaultError::Problem(Problem::new(
        "publicKey",
        Code::Conflict,
        "must be the public half of this key",
    ))
}

fn no_public_half() -> Problem {
    Problem::of_body(Code::Unsupported, "must be a key whose public half the token gives")
}
