//! From a request to its policy.

use std::sync::Arc;

use super::envelope_policy::EnvelopePolicy;
use super::permit::{NotAllowed, PolicyPermit, authorize, to};
use super::{Policy, PolicyName, store};
use crate::auth::{Application, EmergencySwitch, Frozen};
use crate::catalog::{Cache, Catalog, Topic, Unreadable};
use crate::db::Pool;
use crate::floor::{Breach, Floor};
use crate::ids::{PolicyId, ServiceId};
use formats::material::Algorithm;

/// Policies held in memory.
const CAPACITY: u64 = 10_000;

/// The policies, as one instance caches them.
pub struct Policies {
    by_name: Cache<PolicyName, Arc<Policy>>,
    /// By identifier, deleted policies and absence included: an envelope with an unknown policy must not
    /// cost a query each time.
    known: Cache<PolicyId, EnvelopePolicy>,
    /// Whether each service is frozen.
    frozen: Cache<ServiceId, bool>,
    emergency: EmergencySwitch,
    floor: Floor,
}

/// The caller may not do this under a policy, or that is unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotPermitted {
    /// The API key or a policy does not allow it, or something is frozen.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The row of the destination is missing or invalid. It could have been frozen.
    #[error("the row of the destination service does not count")]
    LostDestination,
    /// The policy was deleted since it permitted the operation.
    #[error("the policy was deleted")]
    Deleted,
    /// The policy was switched on or off since it permitted the operation.
    #[error("the state of the policy has changed")]
    Switched,
    /// The destination, the owner of its keys or the required context was changed since the policy permitted the operation.
    #[error("the policy has changed")]
    Changed,
    /// The database does not answer.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// A request has no policy.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
    /// The request names none, and none is bound to its API key.
    #[error("the request names no policy, and the API key is bound to none")]
    NotNamed,
    /// There is no such policy.
    #[error("there is no such policy")]
    NotFound,
    /// The database does not answer.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Policies {
    /// Reads from the database behind `pool`.
    pub fn new(catalog: Catalog, pool: Pool, emergency: EmergencySwitch, floor: Floor) -> Self {
        let (living, all, services) = (pool.clone(), pool.clone(), pool);
        let named = move |name| {
            let pool = living.clone();
            async move { Ok(store::named(pool.rows(), &name).await?.map(Arc::new)) }
        };
        let known = move |id| {
            let pool = all.clone();
            async move { Ok(Some(store::known(&pool, id).await?)) }
        };
        let frozen = move |id| {
            let pool = services.clone();
            async move { store::is_frozen(pool.rows(), id).await.map_err(Unreadable::from) }
        };
        Self {
            by_name: Cache::new(catalog.clone(), &[Topic::Policies], CAPACITY, named),
            known: Cache::new(catalog.clone(), &[Topic::Policies], CAPACITY, known),
            frozen: Cache::new(catalog, &[Topic::Services], CAPACITY, frozen),
            emergency,
            floor,
        }
    }

    /// The policy with this identifier, also after it was deleted.
    pub(super) async fn known(&self, id: PolicyId) -> Result<EnvelopePolicy, Unreadable> {
        Ok(self.known.get(&id).await?.unwrap_or(EnvelopePolicy::Never))
    }

    /// Permits `application` to protect under `policy`, with keys of these algorithms.
    ///
    /// # Errors
    /// Its API key, the policy or the floor does not allow it, something is frozen, or the database does not
    /// answer.
    pub(crate) async fn permit(
        &self,
        application: &Application,
        policy: Arc<Policy>,
        keys: impl IntoIterator<Item = Algorithm>,
    ) -> Result<PolicyPermit<to::Protect>, NotPermitted> {
        let permit: PolicyPermit<to::Protect> = authorize(application)?.under(policy)?;
        self.check_floor(permit.policy(), keys).map_err(NotAllowed::from)?;
        self.check_destination(permit.policy()).await?;
        Ok(permit)
    }

    /// Checks that the floor allows new envelopes under `policy` with keys of these algorithms.
    pub(super) fn check_floor(
        &self,
        policy: &Policy,
        keys: impl IntoIterator<Item = Algorithm>,
    ) -> Result<(), Breach> {
        self.floor.check(policy.alg)?;
        self.floor.check(policy.enc)?;
        keys.into_iter().try_for_each(|key| self.floor.check(key))
    }

    /// Checks that neither everything, nor the service of `application`, nor one of `destinations` is frozen.
    pub(super) async fn check_frozen(
        &self,
        application: &Application,
        destinations: impl IntoIterator<Item = ServiceId>,
    ) -> Result<(), NotPermitted> {
        if self.emergency.is_set().await? {
            return Err(NotAllowed::Frozen(Frozen::Everything).into());
        }
        let caller = (application.service_id(), Frozen::Caller);
        let destinations = destinations.into_iter().map(|id| (id, Frozen::Destination));
        for (service, frozen) in std::iter::once(caller).chain(destinations) {
            if self.frozen.get(&service).await? != Some(false) {
                return Err(NotAllowed::Frozen(frozen).into());
            }
        }
        Ok(())
    }

    /// Checks that the destination of a policy is not frozen.
    pub(crate) async fn check_destination(&self, policy: &Policy) -> Result<(), NotPermitted> {
        match self.frozen.get(&policy.destination_service_id).await? {
            Some(false) => Ok(()),
            Some(true) => Err(NotAllowed::Frozen(Frozen::Destination).into()),
            None => Err(NotPermitted::LostDestination),
        }
    }

    /// The policy with this identifier, unless it was deleted.
    pub(super) async fn living(&self, id: PolicyId) -> Result<Option<Arc<Policy>>, Unreadable> {
        self.by_name.get(&PolicyName::Id(id)).await
    }

    /// The policy with the number in a request of `application`, otherwise the policy that is bound
    /// to its API key.
    pub async fn resolve(
        &self,
        application: &Application,
        number: Option<&str>,
    ) -> Result<Arc<Policy>, Unresolved> {
        let name = match (number, application.bound_policy()) {
            (Some(number), _) => {
                PolicyName::Number(number.parse().map_err(|_| Unresolved::NotFound)?)
            }
            (None, Some(bound)) => PolicyName::Id(bound),
            (None, None) => return Err(Unresolved::NotNamed),
        };
        self.by_name.get(&name).await?.ok_or(Unresolved::NotFound)
    }
}
