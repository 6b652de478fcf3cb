//! A caller of the management API or of the dashboard.

use std::net::IpAddr;
use std::sync::Arc;

use super::{ApiKeyType, Caller, CallerId, Person, RateLimit, Roles, WrongKind};
use crate::ids::ApiKeyId;

/// An administrator: the holder of an admin key, or a person who signed in or has an access token.
///
/// Only authentication makes one: [`Caller::administrator`], [`Sessions::resume`](super::Sessions::resume)
/// and the [`Provider`](super::oidc::Provider).
///
/// ```compile_fail,E0624
/// use std::net::IpAddr;
/// use std::sync::Arc;
///
/// use sealward_engine::auth::{Administrator, Person};
///
/// fn mint(person: Arc<Person>, client: IpAddr) -> Administrator {
///     Administrator::with_token(person, client)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Administrator(AdminCredential);

#[derive(Clone, Debug)]
enum AdminCredential {
    Key(Caller, ApiKeyId),
    Person(Arc<Person>, IpAddr),
}

impl Caller {
    /// This caller as an administrator.
    pub fn administrator(self) -> Result<Administrator, WrongKind> {
        match (self.kind(), self.credential_id().api_key()) {
            (Some(ApiKeyType::Admin), Some(id)) => Ok(Administrator::with_key(self, id)),
            (kind, _) => Err(kind.into()),
        }
    }
}

impl Administrator {
    /// The holder of an admin key.
    pub(super) fn with_key(caller: Caller, id: ApiKeyId) -> Self {
        Self(AdminCredential::Key(caller, id))
    }

    /// A person who signed in, if they have a role and are not locked.
    pub(super) fn signed_in(person: Arc<Person>, client_address: IpAddr) -> Option<Self> {
        let person = Some(person).filter(|person| person.has_roles() && !person.is_locked());
        person.map(|person| Self::with_token(person, client_address))
    }

    /// A person with an access token. Without a role, they may do nothing.
    pub(super) fn with_token(person: Arc<Person>, client_address: IpAddr) -> Self {
        Self(AdminCredential::Person(person, client_address.to_canonical()))
    }

    /// The id of the admin key; none for a person.
    pub fn api_key_id(&self) -> Option<ApiKeyId> {
        match &self.0 {
            AdminCredential::Key(_, id) => Some(*id),
            AdminCredential::Person(..) => None,
        }
    }

    /// The person who signed in; none for an admin key.
    pub fn person(&self) -> Option<&Arc<Person>> {
        match &self.0 {
            AdminCredential::Key(..) => None,
            AdminCredential::Person(person, _) => Some(person),
        }
    }

    /// The identifier of the admin key or of the person.
    pub fn id(&self) -> CallerId {
        match &self.0 {
            AdminCredential::Key(caller, _) => CallerId::Credential(caller.credential_id()),
            AdminCredential::Person(person, _) => CallerId::Person(person.id),
        }
    }

    /// The name of the admin key or of the person.
    pub fn name(&self) -> &str {
        match &self.0 {
            AdminCredential::Key(caller, _) => caller.name(),
            AdminCredential::Person(person, _) => &person.name,
        }
    }

    pub fn roles(&self) -> &Roles {
        match &self.0 {
            AdminCredential::Key(caller, _) => caller.roles(),
            AdminCredential::Person(person, _) => &person.roles,
        }
    }

    pub fn rate_limit(&self) -> RateLimit {
        match &self.0 {
            AdminCredential::Key(caller, _) => caller.rate_limit(),
            AdminCredential::Person(person, _) => person.rate_limit(),
        }
    }

    pub fn client_address(&self) -> IpAddr {
        match &self.0 {
            AdminCredential::Key(caller, _) => caller.client_address(),
            AdminCredential::Person(_, address) => *address,
        }
    }
}
