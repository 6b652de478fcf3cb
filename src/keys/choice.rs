//! Which key does what is asked.
//!
//! Everything here is answered from memory while the catalog is current: the path of a request
//! touches no database for it.

use std::sync::Arc;

use hsm::KeyRef;
use sqlx::PgPool;

use super::{JwkSet, Key, Status, Usage, store};
use crate::catalog::{Cache, Catalog, Topic, Unreadable};
use crate::envelope;
use crate::ids::{KeyId, ServiceId};
use crate::material::{Algorithm, Family};
use crate::operation::Operation;

/// Keys held in memory, and services whose active keys are.
const CAPACITY: u64 = 20_000;

/// Knows the keys of all services, as one instance uses them.
#[derive(Debug)]
pub struct Keyring {
    /// By identifier, absence included: a `kid` from elsewhere must not cost a query each time.
    by_id: Cache<KeyId, Option<Arc<Usable>>>,
    /// The active ones of a service, the one activated last first.
    active: Cache<ServiceId, Arc<[Arc<Usable>]>>,
    /// What a service publishes; nothing where it publishes nothing.
    published: Cache<ServiceId, Option<Arc<JwkSet>>>,
}

/// A key as operations need it.
#[derive(Debug)]
pub struct Usable {
    /// Its identifier.
    pub id: KeyId,
    /// The service it belongs to.
    pub service_id: ServiceId,
    /// What it is for.
    pub usage: Usage,
    /// What kind of key it is.
    pub algorithm: Algorithm,
    /// Where it is in its life.
    pub status: Status,
    /// Its private or secret half in the tokens, where it has one here.
    pub private: Option<KeyRef>,
    /// Its public half as SubjectPublicKeyInfo in DER; empty for secret keys.
    pub spki: Vec<u8>,
    /// Its public half, parsed for envelopes; for keys that are for envelopes.
    pub envelope: Option<envelope::PublicKey>,
}

/// No key does what is asked.
#[derive(Debug, thiserror::Error)]
pub enum NoKey {
    /// There is none, or it is another service's, which is the same to whoever asks.
    #[error("there is no such key")]
    NotFound,
    /// The key is not of a kind that does this.
    #[error("the key does not fit the algorithm")]
    Unfit(KeyId),
    /// The key is of the right kind, and its state forbids it.
    #[error("the key is {}", .1.name())]
    NotAllowed(KeyId, Status),
    /// Which it is cannot be told now.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Keyring {
    /// Reads from the database behind `pool`.
    #[must_use]
    pub fn new(catalog: &Catalog, pool: &PgPool) -> Self {
        let (one, several, public) = (pool.clone(), pool.clone(), pool.clone());
        Self {
            by_id: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |id| {
                let pool = one.clone();
                async move {
                    let found = store::by_id(&pool, id).await?;
                    Ok(Some(found.map(|key| Arc::new(Usable::of(&key)))))
                }
            }),
            active: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |service| {
                let pool = several.clone();
                async move {
                    let found = store::active_of(&pool, service).await?;
                    let usable = found.iter().map(|key| Arc::new(Usable::of(key)));
                    Ok(Some(usable.collect()))
                }
            }),
            published: Cache::new(
                catalog.clone(),
                &[Topic::Services, Topic::Keys],
                CAPACITY,
                move |service| {
                    let pool = public.clone();
                    async move {
                        let keys = store::published(&pool, service).await?;
                        Ok(Some(keys.map(|keys| Arc::new(JwkSet::of(&keys)))))
                    }
                },
            ),
        }
    }

    /// The key that envelopes for `destination` are made with.
    ///
    /// # Errors
    /// [`NoKey::NotFound`] where the service has no active one of that family.
    pub async fn to_protect(
        &self,
        destination: ServiceId,
        family: envelope::Family,
    ) -> Result<Arc<Usable>, NoKey> {
        let active = self.active_of(destination).await?;
        active
            .iter()
            .find(|key| key.is_for_envelopes_of(family))
            .cloned()
            .ok_or(NoKey::NotFound)
    }

    /// The key that an envelope made for `destination` is for: the one `kid` names if it can be, else
    /// the active one of the family. It has a private half.
    ///
    /// Where the service's active key is of another family alone, it is that key, and the envelope
    /// does not fit it: `alg` is wrong then, not the service without a key.
    ///
    /// # Errors
    /// [`NoKey::NotFound`] where the service has no active one.
    pub async fn to_unprotect(
        &self,
        destination: ServiceId,
        family: envelope::Family,
        kid: Option<&str>,
    ) -> Result<Arc<Usable>, NoKey> {
        let active = self.active_of(destination).await?;
        let opens = |key: &&Arc<Usable>| key.usage == Usage::Enc && key.private.is_some();
        let any = active.iter().find(opens).ok_or(NoKey::NotFound)?;
        if let Some(id) = kid.and_then(|kid| kid.parse().ok())
            && let Some(named) = self.by_id(id).await?
            && named.service_id == destination
            && named.status.undoes()
            && opens(&&named)
        {
            return Ok(named);
        }
        let of_family = active
            .iter()
            .find(|key| opens(key) && key.is_for_envelopes_of(family));
        Ok(of_family.unwrap_or(any).clone())
    }

    /// The key of `caller` that a request names for `operation` with an algorithm that takes keys
    /// of the kinds `fitting`.
    ///
    /// # Errors
    /// When it is not there, not of such a kind, or in a state that forbids it.
    pub async fn named(
        &self,
        caller: ServiceId,
        key_id: &str,
        operation: Operation,
        fitting: &[Algorithm],
    ) -> Result<Arc<Usable>, NoKey> {
        let id = key_id.parse().map_err(|_| NoKey::NotFound)?;
        let key = self.by_id(id).await?.ok_or(NoKey::NotFound)?;
        if key.service_id != caller {
            return Err(NoKey::NotFound);
        }
        if !key.fits(operation, fitting) {
            return Err(NoKey::Unfit(key.id));
        }
        let allowed = match operation {
            Operation::Protect | Operation::Encrypt | Operation::Sign => key.status.does(),
            Operation::Unprotect | Operation::Decrypt | Operation::Verify => key.status.undoes(),
            Operation::Hash => false,
        };
        if allowed {
            Ok(key)
        } else {
            Err(NoKey::NotAllowed(key.id, key.status))
        }
    }

    /// The key of `caller` activated last among those that `operation` can be done with.
    ///
    /// # Errors
    /// [`NoKey::NotFound`] where there is none.
    pub async fn newest(
        &self,
        caller: ServiceId,
        operation: Operation,
        fitting: &[Algorithm],
    ) -> Result<Arc<Usable>, NoKey> {
        let active = self.active_of(caller).await?;
        active
            .iter()
            .find(|key| key.fits(operation, fitting))
            .cloned()
            .ok_or(NoKey::NotFound)
    }

    /// The public keys that a service publishes; none where it does not.
    ///
    /// # Errors
    /// When the database has to be read and does not answer.
    pub async fn published(&self, service: ServiceId) -> Result<Option<Arc<JwkSet>>, Unreadable> {
        Ok(self.published.get(&service).await?.flatten())
    }

    async fn by_id(&self, id: KeyId) -> Result<Option<Arc<Usable>>, Unreadable> {
        Ok(self.by_id.get(&id).await?.flatten())
    }

    async fn active_of(&self, service: ServiceId) -> Result<Arc<[Arc<Usable>]>, Unreadable> {
        let known = self.active.get(&service).await?;
        Ok(known.unwrap_or_else(|| Arc::from([])))
    }
}

impl Usable {
    fn of(key: &Key) -> Self {
        let spki = key.public.as_ref().map(|key| key.to_spki());
        let spki = spki.unwrap_or_default();
        Self {
            id: key.id,
            service_id: key.service_id,
            usage: key.usage,
            algorithm: key.algorithm,
            status: key.status,
            private: key.token_key(),
            envelope: (key.usage == Usage::Enc)
                .then(|| envelope::PublicKey::from_spki(&spki).ok())
                .flatten(),
            spki,
        }
    }

    /// Whether it can do `operation` with an algorithm that takes keys of the kinds `fitting`.
    fn fits(&self, operation: Operation, fitting: &[Algorithm]) -> bool {
        let usage = match operation {
            Operation::Encrypt | Operation::Decrypt => Usage::Data,
            Operation::Sign | Operation::Verify => Usage::Sig,
            Operation::Protect | Operation::Unprotect => Usage::Enc,
            Operation::Hash => return false,
        };
        // A signature is verified with the public half, which is here.
        let has_half = self.private.is_some() || operation == Operation::Verify;
        self.usage == usage && has_half && fitting.contains(&self.algorithm)
    }

    fn is_for_envelopes_of(&self, family: envelope::Family) -> bool {
        let family = match family {
            envelope::Family::Rsa => Family::Rsa,
            envelope::Family::Ec => Family::Ec,
        };
        self.usage == Usage::Enc && self.algorithm.family() == family
    }
}
