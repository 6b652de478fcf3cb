//! What is frozen, so that its requests are refused.

use std::collections::HashSet;
use std::sync::Arc;

use super::store::living_services;
use super::{Emergency, ServiceStatus};
use crate::catalog::{Catalog, Flag, Topic, Unreadable};
use crate::db::Pool;
use crate::ids::ServiceId;

/// A request is refused, because something is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Frozen {
    /// The switch for everything is set.
    #[error("all services are frozen")]
    Everything,
    /// The service of the caller.
    #[error("the service of the caller is frozen")]
    Caller,
    /// The service for which the policy protects.
    #[error("the destination service is frozen")]
    Destination,
}

/// The switch for everything, as one instance caches it. Clones share the cache.
#[derive(Clone)]
pub struct EmergencySwitch(Arc<Flag>);

impl EmergencySwitch {
    /// The switch in this database.
    pub fn new(catalog: Catalog, pool: Pool) -> Self {
        let read = move |()| {
            let pool = pool.clone();
            async move {
                let mut connection = pool.acquire().await?;
                let current = Emergency::current(pool.rows_on(&mut connection)).await?;
                Ok(Some(current.is_frozen()))
            }
        };
        Self(Arc::new(Flag::new(catalog, &[Topic::Emergency], read)))
    }

    /// Whether everything is frozen.
    pub(crate) async fn is_set(&self) -> Result<bool, Unreadable> {
        Ok(self.0.get().await?.unwrap_or(true))
    }
}

/// The frozen services, as the database shows them now.
#[derive(Debug)]
pub(crate) struct FrozenServices {
    everything: bool,
    services: HashSet<ServiceId>,
}

impl FrozenServices {
    /// Reads them.
    pub(crate) async fn read(pool: &Pool) -> sqlx::Result<Self> {
        let mut connection = pool.acquire().await?;
        let everything = Emergency::current(pool.rows_on(&mut connection)).await?.is_frozen();
        let mut living = living_services(pool.rows_on(&mut connection)).await?;
        living.retain(|service| service.status == ServiceStatus::Frozen);
        Ok(Self { everything, services: living.into_iter().map(|service| service.id).collect() })
    }

    /// Whether this service is frozen.
    pub(crate) fn contain(&self, service: ServiceId) -> bool {
        self.everything || self.services.contains(&service)
    }
}
