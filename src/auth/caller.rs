//! The caller: proof that a request is authenticated.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use super::identity::Identity;
use super::{Administrator, CallerId, Kind, RateLimit, Roles};
use crate::ids::{ApiKeyId, PolicyId, ServiceId};
use crate::operation::{Operation, Operations};

/// An authenticated caller. Only authentication creates one.
#[derive(Clone, Debug)]
pub struct Caller {
    identity: Arc<Identity>,
    client_address: IpAddr,
}

/// A caller of the runtime API.
#[derive(Clone, Debug)]
pub struct Application {
    caller: Caller,
    service_id: ServiceId,
}

/// The credential is valid, but not for this API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("keys of the type {0} cannot call this API")]
pub struct WrongKind(pub Kind);

impl Caller {
    pub(super) fn new(identity: Arc<Identity>, client_address: IpAddr) -> Self {
        Self {
            identity,
            client_address,
        }
    }

    /// The id of the API key.
    #[must_use]
    pub fn api_key_id(&self) -> ApiKeyId {
        self.identity.api_key_id
    }

    /// The identifier of the caller.
    #[must_use]
    pub fn id(&self) -> CallerId {
        CallerId::ApiKey(self.api_key_id())
    }

    /// The name of the API key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// The type of the API key.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.identity.kind
    }

    /// The roles of an administrator; none for applications.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.identity.roles
    }

    /// The calling service; none for administrators.
    #[must_use]
    pub fn service_id(&self) -> Option<ServiceId> {
        self.identity.service_id
    }

    /// Its rate limit: of the whole service, or of one admin key.
    #[must_use]
    pub fn rate_limit(&self) -> RateLimit {
        self.identity.rate_limit
    }

    /// The address of the client.
    #[must_use]
    pub fn client_address(&self) -> IpAddr {
        self.client_address
    }

    /// This caller as an application.
    ///
    /// # Errors
    /// The key has another type.
    pub fn application(self) -> Result<Application, WrongKind> {
        match (self.kind(), self.service_id()) {
            (Kind::Live | Kind::Test, Some(service_id)) => Ok(Application {
                caller: self,
                service_id,
            }),
            (kind, _) => Err(WrongKind(kind)),
        }
    }

    /// This caller as an administrator.
    ///
    /// # Errors
    /// The key has another type.
    pub fn administrator(self) -> Result<Administrator, WrongKind> {
        match self.kind() {
            Kind::Admin => Ok(Administrator::with_key(self)),
            kind @ (Kind::Live | Kind::Test) => Err(WrongKind(kind)),
        }
    }
}

impl Application {
    /// The calling service.
    #[must_use]
    pub fn service_id(&self) -> ServiceId {
        self.service_id
    }

    /// The default policy of its API key.
    #[must_use]
    pub fn bound_policy(&self) -> Option<PolicyId> {
        self.caller.identity.bound_policy
    }

    /// The operations that its API key allows; none if it allows all of them.
    #[must_use]
    pub fn allowed_operations(&self) -> Option<Operations> {
        self.caller.identity.allowed_operations
    }

    /// Whether its API key allows `operation`.
    #[must_use]
    pub fn may(&self, operation: Operation) -> bool {
        self.allowed_operations()
            .is_none_or(|allowed| allowed.contain(operation))
    }
}

impl Deref for Application {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

#[cfg(test)]
impl Application {
    /// An application for tests of other modules.
    pub(crate) fn sample(service_id: ServiceId, allowed_operations: Option<Operations>) -> Self {
        let identity = Identity {
            service_id: Some(service_id),
            allowed_operations,
            ..Identity::sample()
        };
        Caller::new(Arc::new(identity), IpAddr::from([127, 0, 0, 1]))
            .application()
            .unwrap()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_api_has_its_callers() {
        let caller = |kind, service_id| {
            let identity = Identity {
                kind,
                service_id,
                ..Identity::sample()
            };
            Caller::new(Arc::new(identity), IpAddr::from([127, 0, 0, 1]))
        };
        let service = Some(ServiceId::from_uuid(Uuid::from_u128(2)));
        assert!(caller(Kind::Live, service).application().is_ok());
        assert!(caller(Kind::Test, service).application().is_ok());
        assert!(caller(Kind::Admin, None).application().is_err());
        assert!(caller(Kind::Live, service).administrator().is_err());
        assert!(caller(Kind::Admin, None).administrator().is_ok());
    }
}
