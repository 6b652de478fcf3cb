//! The choice of a key for an operation.
//!
//! Every choice takes the permit for the operation. While the catalog is current, the choice
//! uses cached keys and needs no query.

use std::sync::Arc;

use super::keyring::Keyring;
use super::permitted::{Opener, PermittedKey};
use super::usable::Usable;
use super::{JwkSet, KeyStatus, KeyVersion, Versions};
use crate::catalog::Unreadable;
use crate::floor::{Breach, Floor};
use crate::ids::{KeyId, ServiceId};
use crate::operation::Operation;
use crate::policy::{
    OpeningPermit, Permit, Permittable, Policy, PolicyPermit, UnprotectNotAvailable, to,
};
use formats::clock::Timestamp;
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
    /// The key would make something new, and its algorithm is below the floor.
    #[error("{1}")]
    BelowFloor(KeyId, Breach),
    /// The database does not respond.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Keyring {
    /// The key for new envelopes under the policy of `permit`.
    ///
    /// # Errors
    /// [`NoKey::NotFound`] if the destination has no active key for the `alg` of the policy that has not
    /// expired, and [`NoKey::BelowFloor`] if the algorithm of the key makes nothing new.
    pub(crate) async fn to_protect<'a>(
        &'a self,
        permit: &'a PolicyPermit<to::Protect>,
    ) -> Result<PermittedKey<'a, PolicyPermit<to::Protect>>, NoKey> {
        let key = self.receiving(permit.policy()).await?.ok_or(NoKey::NotFound)?;
        key.check_floor(self.floor)?;
        Ok(PermittedKey::new(self, key, permit))
    }

    /// The algorithm of the key for new envelopes under `policy`, if there is one and the floor can refuse it.
    pub(crate) async fn receiving_algorithm(
        &self,
        policy: &Policy,
    ) -> Result<Option<Algorithm>, Unreadable> {
        if self.floor.is_open() {
            return Ok(None);
        }
        Ok(self.receiving(policy).await?.map(|key| key.algorithm))
    }

    async fn receiving(&self, policy: &Policy) -> Result<Option<Arc<Usable>>, Unreadable> {
        let active = self.acting_of(policy.destination_service_id).await?;
        let now = self.clock.now();
        let mut fitting =
            active.iter().filter(|key| key.seals(policy.alg.family()) && !key.is_expired(now));
        Ok(fitting.next().cloned())
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
    pub(crate) async fn to_unprotect(&self, permit: OpeningPermit) -> Result<Opener<'_>, NoKey> {
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
        key.check_floor_for(O::OPERATION, self.floor)?;
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
        key.check(operation, fitting, self.clock.now())?;
        Ok(key)
    }

    /// The key of the caller with this name for the operation of `permit`: the given version, or else the
    /// highest one that is active and has not expired.
    pub(crate) async fn choose_version<'a, O: Permittable>(
        &'a self,
        permit: &'a Permit<O>,
        name: &str,
        version: Option<KeyVersion>,
        fitting: &[Algorithm],
    ) -> Result<PermittedKey<'a, Permit<O>>, NoKey> {
        let caller = permit.application().service_id();
        let versions = self.versions(caller, name).await?.ok_or(NoKey::NotFound)?;
        let now = self.clock.now();
        let key = match version {
            Some(version) => versions.numbered(version.number()),
            None => versions.default_version(now),
        };
        let key = key.ok_or(NoKey::NotFound)?;
        key.check(O::OPERATION, fitting, now)?;
        key.check_floor_for(O::OPERATION, self.floor)?;
        Ok(PermittedKey::new(self, key.clone(), permit))
    }

    /// The `sig` or `data` keys of a service with this name, if there ever was one.
    pub async fn versions(
        &self,
        service: ServiceId,
        name: &str,
    ) -> Result<Option<Arc<Versions>>, Unreadable> {
        Ok(self.versions.get(&(service, name.to_owned())).await?.flatten())
    }

    /// The names of the `sig` and `data` keys of a service that are not all destroyed, in order.
    pub async fn names(&self, service: ServiceId) -> Result<Arc<[String]>, Unreadable> {
        Ok(self.names.get(&service).await?.unwrap_or_else(|| Arc::from([])))
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

    /// The state of a key, if it exists.
    pub(crate) async fn status(&self, id: KeyId) -> Result<Option<KeyStatus>, Unreadable> {
        Ok(self.by_id(id).await?.map(|key| key.status))
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

impl Usable {
    /// Checks that its algorithm makes something new.
    fn check_floor(&self, floor: Floor) -> Result<(), NoKey> {
        floor.check(self.algorithm).map_err(|breach| NoKey::BelowFloor(self.id, breach))
    }

    /// Checks the same where `operation` makes something new.
    fn check_floor_for(&self, operation: Operation, floor: Floor) -> Result<(), NoKey> {
        match operation {
            Operation::Protect | Operation::Encrypt | Operation::Sign => self.check_floor(floor),
            Operation::Unprotect
            | Operation::Rewrap
            | Operation::Decrypt
            | Operation::Verify
            | Operation::Hash => Ok(()),
        }
    }

    /// Checks that it fits an operation and that its state allows it.
    fn check(
        &self,
        operation: Operation,
        fitting: &[Algorithm],
        now: Timestamp,
    ) -> Result<(), NoKey> {
        if !self.fits(operation, fitting) {
            return Err(NoKey::Unfit(self.id));
        }
        let allowed = match operation {
            Operation::Protect | Operation::Encrypt | Operation::Sign => self.status.does(),
            Operation::Unprotect | Operation::Decrypt | Operation::Verify => self.status.undoes(),
            Operation::Rewrap | Operation::Hash => false,
        };
        if !allowed {
            Err(NoKey::NotAllowed(self.id, self.status))
        } else if self.is_too_old(operation, now) {
            Err(NoKey::Expired(self.id))
        } else {
            Ok(())
        }
    }
}
