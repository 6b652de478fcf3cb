//! The choice of a key for an operation.
//!
//! Every choice takes the permit for the operation. While the catalog is current, the choice
//! uses cached keys and needs no query.

use std::sync::Arc;

use super::keyring::Keyring;
use super::permitted::{Opener, PermittedKey};
use super::usable::Usable;
use super::{JwkSet, KeyStatus};
use crate::catalog::Unreadable;
use crate::ids::{KeyId, ServiceId};
use crate::operation::Operation;
use crate::policy::{OpeningPermit, Permit, Permittable, PolicyPermit, UnprotectNotAvailable, to};
use formats::material::Algorithm;

/// No key matches the operation.
#[derive(Debug, thiserror::Error)]
pub enum NoKey {
    /// It does not exist, or another service owns it. The caller cannot distinguish the two.
    #[error("there is no such key")]
    NotFound,
    /// The destination of the policy holds the private key.
    #[error(transparent)]
    HeldByDestination(#[from] UnprotectNotAvailable),
    /// The key has another algorithm or use.
    #[error("the key does not fit the algorithm")]
    Unfit(KeyId),
    /// The state of the key forbids the operation.
    #[error("the key is {1}")]
    NotAllowed(KeyId, KeyStatus),
    /// The key is active, but it has expired.
    #[error("the key has expired")]
    Expired(KeyId),
    /// The database does not respond.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Keyring {
    /// The key for new envelopes under the policy of `permit`.
    ///
    /// # Errors
    /// [`NoKey::NotFound`] if the destination has no active key for the `alg` of the policy that has not
    /// expired.
    pub(crate) async fn to_protect<'a>(
        &'a self,
        permit: &'a PolicyPermit<to::Protect>,
    ) -> Result<PermittedKey<'a, PolicyPermit<to::Protect>>, NoKey> {
        let policy = permit.policy();
        let active = self.acting_of(policy.destination_service_id).await?;
        let now = self.clock.now();
        let mut fitting =
            active.iter().filter(|key| key.seals(policy.alg.family()) && !key.is_expired(now));
        let key = fitting.next().ok_or(NoKey::NotFound)?;
        Ok(PermittedKey::new(self, key.clone(), permit))
    }

    /// The key that opens the envelope of `permit` under the policy that the request names: the key of
    /// `kid`, an identifier of a key or of a partner, if it is usable, else the active key of the
    /// family. It has a private key.
    ///
    /// If the active keys of the destination have another family, it is one of those. The envelope then
    /// does not match the key, so the error is the `alg` and not a missing key.
    ///
    /// # Errors
    /// [`NoKey::NotFound`] if the destination has no active key, and [`NoKey::HeldByDestination`] if the
    /// destination holds the private key.
    pub async fn to_unprotect(&self, permit: OpeningPermit) -> Result<Opener<'_>, NoKey> {
        let (policy, envelope) = (permit.policy(), permit.envelope());
        policy.unprotectable()?;
        let destination = policy.destination_service_id;
        let active = self.acting_of(destination).await?;
        let opens = |key: &&Arc<Usable>| key.envelope.is_some() && key.private.is_some();
        let any = active.iter().find(opens).ok_or(NoKey::NotFound)?;
        if let Some(kid) = envelope.kid()
            && let Some(named) = self.by_kid(destination, kid).await?
            && named.service_id == destination
            && named.status.undoes()
            && opens(&&named)
        {
            return Ok(Opener::new(self, named, permit));
        }
        let family = envelope.family();
        let mut of_family = active.iter().filter(|key| opens(key) && key.seals(family));
        let key = of_family.next().unwrap_or(any);
        Ok(Opener::new(self, key.clone(), permit))
    }

    /// The key of the caller for the operation of `permit`, with one of the algorithms `fitting`: the
    /// named key, or else the matching key with the latest activation.
    pub async fn choose<'a, O: Permittable>(
        &'a self,
        permit: &'a Permit<O>,
        name: Option<&str>,
        fitting: &[Algorithm],
    ) -> Result<PermittedKey<'a, Permit<O>>, NoKey> {
        let caller = permit.application().service_id();
        let key = match name {
            Some(name) => self.named(caller, name, O::OPERATION, fitting).await?,
            None => {
                let active = self.acting_of(caller).await?;
                let now = self.clock.now();
                let mut fitting = active.iter().filter(|key| {
                    key.fits(O::OPERATION, fitting) && !key.is_too_old(O::OPERATION, now)
                });
                fitting.next().ok_or(NoKey::NotFound)?.clone()
            }
        };
        Ok(PermittedKey::new(self, key, permit))
    }

    async fn named(
        &self,
        caller: ServiceId,
        name: &str,
        operation: Operation,
        fitting: &[Algorithm],
    ) -> Result<Arc<Usable>, NoKey> {
        let id = name.parse().map_err(|_| NoKey::NotFound)?;
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
            Operation::Rewrap | Operation::Hash => false,
        };
        if !allowed {
            Err(NoKey::NotAllowed(key.id, key.status))
        } else if key.is_too_old(operation, self.clock.now()) {
            Err(NoKey::Expired(key.id))
        } else {
            Ok(key)
        }
    }

    /// The published public keys of a service, if it publishes them, without expired envelope keys. A look-up of a service without
    /// published keys waits for `admission` first.
    pub async fn published<R>(
        &self,
        service: ServiceId,
        admission: impl Future<Output = Result<(), R>> + Send,
    ) -> Result<Option<Arc<JwkSet>>, R>
    where
        R: From<Unreadable> + Clone + Send + Sync + 'static,
    {
        let published = self.published.get_admitted(&service, admission).await?;
        Ok(published.map(|keys| keys.at(self.clock.now())))
    }

    async fn by_id(&self, id: KeyId) -> Result<Option<Arc<Usable>>, Unreadable> {
        Ok(self.by_id.get(&id).await?.flatten())
    }

    /// The key that a partner of `service` can mean by `kid`.
    async fn by_kid(
        &self,
        service: ServiceId,
        kid: &str,
    ) -> Result<Option<Arc<Usable>>, Unreadable> {
        if let Ok(id) = kid.parse() {
            return self.by_id(id).await;
        }
        let named = self.by_partner_kid.get(&service).await?;
        let mut named = named.iter().flat_map(|keys| keys.iter());
        Ok(named.find(|key| key.kid == kid).cloned())
    }

    async fn acting_of(&self, service: ServiceId) -> Result<Arc<[Arc<Usable>]>, Unreadable> {
        let known = self.acting.get(&service).await?;
        Ok(known.unwrap_or_else(|| Arc::from([])))
    }
}
