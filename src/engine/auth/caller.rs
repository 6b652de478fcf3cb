//! The caller: proof that a request is authenticated.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use super::identity::{CredentialRefused, Identity, Noted, Workload};
use super::{ApiKeyType, CallerId, Frozen, RateLimit, Roles};
use crate::ids::{CredentialId, PolicyId, ServiceId};
use crate::operation::{Operation, Operations};
use formats::clock::Timestamp;

/// The number of characters of a subject that the audit log keeps.
const SUBJECT: usize = 256;

/// The part of a subject that the audit log keeps.
pub(super) fn recorded_subject(subject: &str) -> Arc<str> {
    match subject.char_indices().nth(SUBJECT) {
        Some((end, _)) => subject.get(..end).unwrap_or_default().into(),
        None => subject.into(),
    }
}

/// An authenticated caller. Only authentication creates one.
#[derive(Clone, Debug)]
pub struct Caller {
    identity: Arc<Identity>,
    token_subject: Option<Arc<str>>,
    client_address: IpAddr,
    lifetime: Lifetime,
    /// Whether everything is frozen.
    is_emergency: bool,
}

/// When a credential is valid, as far as it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

/// A caller of the runtime API. Only look-ups have answers for one that is frozen.
#[derive(Clone, Debug)]
pub struct Application {
    caller: Caller,
    service_id: ServiceId,
}

/// The credential is valid, but not for this API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongKind {
    /// An API key of this type.
    #[error("keys of the type {0} cannot call this API")]
    Key(ApiKeyType),
    /// The token or the certificate of a workload.
    #[error("workload identities cannot call this API")]
    Workload,
    /// The access token of a person.
    #[error("people cannot call this API")]
    Person,
}

impl Caller {
    pub(super) fn new(identity: Arc<Identity>, client_address: IpAddr) -> Self {
        let lifetime = Lifetime::default();
        Self { identity, token_subject: None, client_address, lifetime, is_emergency: false }
    }

    /// The same caller, with a credential that is valid for this time.
    pub(super) fn living(self, lifetime: Lifetime) -> Self {
        Self { lifetime, ..self }
    }

    /// The same caller, while everything is frozen or not.
    pub(super) fn in_emergency(self, is_emergency: bool) -> Self {
        Self { is_emergency, ..self }
    }

    /// A workload, unless it is refused. The subject is of its token or its certificate.
    pub(super) fn of_workload(
        workload: &Workload,
        subject: Arc<str>,
        client: IpAddr,
    ) -> Result<Self, CredentialRefused> {
        if let Some(refused) = workload.refused {
            return Err(refused);
        }
        Ok(Self {
            token_subject: Some(subject),
            ..Self::new(Arc::clone(&workload.identity), client.to_canonical())
        })
    }

    /// The identifier of the caller.
    pub fn id(&self) -> CallerId {
        CallerId::Credential(self.credential_id())
    }

    /// The id of the API key or of the workload identity.
    pub fn credential_id(&self) -> CredentialId {
        self.identity.credential_id
    }

    /// The beginning of the subject of its token or of its SPIFFE ID, or the fingerprint of its certificate;
    /// none for API keys.
    pub fn token_subject(&self) -> Option<&str> {
        self.token_subject.as_deref()
    }

    /// The name of the API key or of the workload identity.
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// The type of the API key; none for workload identities.
    pub fn kind(&self) -> Option<ApiKeyType> {
        self.identity.kind
    }

    /// The roles of an administrator; none for applications.
    pub fn roles(&self) -> &Roles {
        &self.identity.roles
    }

    /// The calling service; none for administrators.
    pub fn service_id(&self) -> Option<ServiceId> {
        self.identity.service_id
    }

    /// Its rate limit: of the whole service, or of one admin key.
    pub fn rate_limit(&self) -> RateLimit {
        self.identity.rate_limit
    }

    pub(super) fn noted(&self) -> &Noted {
        &self.identity.noted
    }

    pub fn client_address(&self) -> IpAddr {
        self.client_address
    }

    /// When its credential is valid.
    pub fn lifetime(&self) -> Lifetime {
        self.lifetime
    }

    /// The name of the calling service; none for administrators.
    pub fn service_name(&self) -> Option<&str> {
        self.identity.service_name.as_deref()
    }

    /// This caller as an application.
    pub fn application(self) -> Result<Application, WrongKind> {
        match (self.kind(), self.service_id()) {
            (None | Some(ApiKeyType::Live | ApiKeyType::Test), Some(service_id)) => {
                Ok(Application { caller: self, service_id })
            }
            (kind, _) => Err(kind.into()),
        }
    }
}

/// The type of an API key; none for a workload identity.
impl From<Option<ApiKeyType>> for WrongKind {
    fn from(kind: Option<ApiKeyType>) -> Self {
        kind.map_or(Self::Workload, Self::Key)
    }
}

impl Application {
    /// The calling service.
    pub fn service_id(&self) -> ServiceId {
        self.service_id
    }

    /// Whether it is the same service with the same credential: the token of a workload can match another identity later.
    pub fn is(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.service_id, it.caller.credential_id());
        of(self) == of(other)
    }

    /// The default policy of its credential.
    pub fn bound_policy(&self) -> Option<PolicyId> {
        self.caller.identity.bound_policy
    }

    /// The operations that its credential allows; none if it allows all of them.
    pub fn allowed_operations(&self) -> Option<Operations> {
        self.caller.identity.allowed_operations
    }

    /// Why its operations are refused.
    pub fn frozen(&self) -> Option<Frozen> {
        if self.caller.is_emergency {
            return Some(Frozen::Everything);
        }
        self.caller.identity.is_frozen.then_some(Frozen::Caller)
    }

    /// Whether its credential allows `operation`.
    pub fn may(&self, operation: Operation) -> bool {
        self.allowed_operations().is_none_or(|allowed| allowed.contain(operation))
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
        let identity =
            Identity { service_id: Some(service_id), allowed_operations, ..Identity::sample() };
        Caller::new(Arc::new(identity), IpAddr::from([127, 0, 0, 1])).application().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_api_has_its_callers() {
        let caller = |kind, service_id| {
            let identity = Identity { kind, service_id, ..Identity::sample() };
            Caller::new(Arc::new(identity), IpAddr::from([127, 0, 0, 1]))
        };
        let service = Some(ServiceId::from_uuid(Uuid::from_u128(2)));
        assert!(caller(Some(ApiKeyType::Live), service).application().is_ok());
        assert!(caller(Some(ApiKeyType::Test), service).application().is_ok());
        assert!(caller(Some(ApiKeyType::Admin), None).application().is_err());
        assert!(caller(Some(ApiKeyType::Live), service).administrator().is_err());
        assert!(caller(Some(ApiKeyType::Admin), None).administrator().is_ok());
        assert!(caller(None, service).application().is_ok());
        assert!(caller(None, service).administrator().is_err());
    }
}
