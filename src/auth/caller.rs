//! Who calls: proof that a request's credential was found good.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use ipnet::IpNet;

use super::last_use::Noted;
use super::{AtRest, Kind, RateLimit, Refusal};
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, PolicyId, ServiceId};
use crate::operation::{Operation, Operations};
use crate::settings::Stage;

/// What is known of an API key, good or not.
#[derive(Debug)]
pub struct Identity {
    pub(super) api_key_id: ApiKeyId,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) at_rest: AtRest,
    pub(super) service_id: Option<ServiceId>,
    pub(super) rate_limit: RateLimit,
    pub(super) bound_policy: Option<PolicyId>,
    pub(super) allowed_operations: Option<Operations>,
    pub(super) allowed_networks: Option<Vec<IpNet>>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) revoked_at: Option<Timestamp>,
    pub(super) noted: Noted,
}

impl Identity {
    /// Every reason but its secret for which a key may be refused.
    pub(super) fn refusal(&self, now: Timestamp, stage: Stage, client: IpAddr) -> Option<Refusal> {
        if self.revoked_at.is_some() {
            return Some(Refusal::Revoked);
        }
        if self.expires_at.is_some_and(|expiry| expiry <= now) {
            return Some(Refusal::Expired);
        }
        if !self.kind.fits(stage) {
            return Some(Refusal::OtherEnvironment);
        }
        let at_home = self
            .allowed_networks
            .as_ref()
            .is_none_or(|networks| networks.iter().any(|network| network.contains(&client)));
        (!at_home).then_some(Refusal::OtherNetwork)
    }
}

/// Somebody whose credential was found good for this request. Only authentication makes one.
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

/// A caller of the management API.
#[derive(Clone, Debug)]
pub struct Administrator(Caller);

/// The credential is good, and not for this API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("keys of the type {0} do not call this API")]
pub struct WrongKind(pub Kind);

impl Caller {
    pub(super) fn new(identity: Arc<Identity>, client_address: IpAddr) -> Self {
        Self {
            identity,
            client_address,
        }
    }

    /// Which API key.
    #[must_use]
    pub fn api_key_id(&self) -> ApiKeyId {
        self.identity.api_key_id
    }

    /// The name administrators gave the API key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// The kind of API key.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.identity.kind
    }

    /// The calling service; administrators have none.
    #[must_use]
    pub fn service_id(&self) -> Option<ServiceId> {
        self.identity.service_id
    }

    /// How much it may ask: as a service together, or as a single administrator's key.
    #[must_use]
    pub fn rate_limit(&self) -> RateLimit {
        self.identity.rate_limit
    }

    /// Where the request came from.
    #[must_use]
    pub fn client_address(&self) -> IpAddr {
        self.client_address
    }

    /// This caller as one of the runtime API.
    ///
    /// # Errors
    /// For keys of another kind.
    pub fn application(self) -> Result<Application, WrongKind> {
        match (self.kind(), self.service_id()) {
            (Kind::Live | Kind::Test, Some(service_id)) => Ok(Application {
                caller: self,
                service_id,
            }),
            (kind, _) => Err(WrongKind(kind)),
        }
    }

    /// This caller as one of the management API.
    ///
    /// # Errors
    /// For keys of another kind.
    pub fn administrator(self) -> Result<Administrator, WrongKind> {
        match self.kind() {
            Kind::Admin => Ok(Administrator(self)),
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

    /// The policy that is used when a request names none.
    #[must_use]
    pub fn bound_policy(&self) -> Option<PolicyId> {
        self.caller.identity.bound_policy
    }

    /// Whether its API key allows `operation`.
    #[must_use]
    pub fn may(&self, operation: Operation) -> bool {
        self.caller
            .identity
            .allowed_operations
            .is_none_or(|allowed| allowed.contain(operation))
    }
}

impl Deref for Application {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl Deref for Administrator {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

#[cfg(test)]
impl Application {
    /// An application as tests of other rooms need it.
    pub(crate) fn sample(service_id: ServiceId, allowed_operations: Option<Operations>) -> Self {
        let identity = Identity {
            service_id: Some(service_id),
            allowed_operations,
            ..tests::identity()
        };
        Caller::new(Arc::new(identity), IpAddr::from([127, 0, 0, 1]))
            .application()
            .unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    pub(super) fn identity() -> Identity {
        Identity {
            api_key_id: ApiKeyId::from_uuid(Uuid::from_u128(1)),
            name: "sample".to_owned(),
            kind: Kind::Live,
            at_rest: AtRest::from_bytes([0; 32]),
            service_id: Some(ServiceId::from_uuid(Uuid::from_u128(2))),
            rate_limit: RateLimit::OF_ADMINS,
            bound_policy: None,
            allowed_operations: None,
            allowed_networks: None,
            expires_at: None,
            revoked_at: None,
            noted: Noted::default(),
        }
    }

    const NOW: i64 = 1_700_000_000_000;

    fn refusal(identity: &Identity, stage: Stage, client: &str) -> Option<Refusal> {
        identity.refusal(Timestamp::from_millis(NOW), stage, client.parse().unwrap())
    }

    #[test]
    fn each_kind_of_key_has_its_stages() {
        let table = [
            (Kind::Live, [true, false, true]),
            (Kind::Test, [false, true, true]),
            (Kind::Admin, [true, true, true]),
        ];
        for (kind, taken) in table {
            let identity = Identity { kind, ..identity() };
            let stages = [Stage::Production, Stage::Staging, Stage::Development];
            for (stage, taken) in stages.into_iter().zip(taken) {
                let refusal = refusal(&identity, stage, "10.0.0.1");
                let expected = (!taken).then_some(Refusal::OtherEnvironment);
                assert_eq!(refusal, expected, "{kind} in {stage:?}");
            }
        }
    }

    #[test]
    fn a_key_ends_at_its_expiry_or_revocation() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let expiring = |expires_at| Identity {
            expires_at,
            ..identity()
        };
        let stage = Stage::Production;
        assert_eq!(refusal(&expiring(at(NOW + 1)), stage, "::1"), None);
        let over = refusal(&expiring(at(NOW)), stage, "::1");
        assert_eq!(over, Some(Refusal::Expired));
        let revoked = Identity {
            revoked_at: at(NOW),
            ..identity()
        };
        assert_eq!(refusal(&revoked, stage, "::1"), Some(Refusal::Revoked));
    }

    #[test]
    fn a_key_with_networks_is_good_in_them_alone() {
        let identity = Identity {
            allowed_networks: Some(vec![
                "10.1.0.0/16".parse().unwrap(),
                "2001:db8::/32".parse().unwrap(),
            ]),
            ..identity()
        };
        for (client, inside) in [
            ("10.1.255.1", true),
            ("10.2.0.1", false),
            ("2001:db8::1", true),
            ("::ffff:10.1.0.1", false),
        ] {
            let refusal = refusal(&identity, Stage::Production, client);
            assert_eq!(refusal.is_none(), inside, "{client}");
        }
    }

    #[test]
    fn each_api_has_its_callers() {
        let caller = |kind, service_id| {
            let identity = Identity {
                kind,
                service_id,
                ..identity()
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
