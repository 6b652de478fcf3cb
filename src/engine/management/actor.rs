//! The author of a change.

use std::net::IpAddr;
use std::sync::Arc;

use uuid::Uuid;

use crate::auth::{Administrator, Caller, Person, Roles};
use crate::ids::{ApiKeyId, CredentialId};

/// The author of a change, as events name it.
#[derive(Clone, Debug)]
pub struct Actor {
    pub(super) api_key_id: Option<ApiKeyId>,
    /// The person who signed in.
    pub(super) person: Option<Arc<Person>>,
    pub(super) name: String,
    pub(super) roles: Roles,
    pub(super) client_address: Option<IpAddr>,
    pub(super) request_id: Option<String>,
}

impl Actor {
    /// A caller who sent a request.
    pub fn caller(caller: &Caller, request_id: String) -> Self {
        Self {
            api_key_id: caller.credential_id().api_key(),
            person: None,
            name: name(caller),
            roles: caller.roles().clone(),
            client_address: Some(caller.client_address()),
            request_id: Some(request_id),
        }
    }

    /// The owner of a share of what administrators share: the person or the API key. None of the service itself.
    pub(super) fn share_owner(&self) -> Option<Uuid> {
        let person = self.person.as_ref().map(|person| person.id().uuid());
        person.or_else(|| self.api_key_id.map(|id| id.uuid()))
    }

    /// An administrator who sent a request.
    pub fn administrator(administrator: &Administrator, request_id: String) -> Self {
        Self {
            api_key_id: administrator.api_key_id(),
            person: administrator.person().cloned(),
            name: administrator.name().to_owned(),
            roles: administrator.roles().clone(),
            client_address: Some(administrator.client_address()),
            request_id: Some(request_id),
        }
    }

    /// The client of an unauthenticated request.
    pub fn anonymous(client: IpAddr, request_id: String) -> Self {
        Self {
            api_key_id: None,
            person: None,
            name: "unauthenticated".to_owned(),
            roles: Roles::default(),
            client_address: Some(client),
            request_id: Some(request_id),
        }
    }

    /// The provider at which people sign in, which sent a request.
    pub fn provider(client: IpAddr, request_id: String) -> Self {
        Self { name: "identity provider".to_owned(), ..Self::anonymous(client, request_id) }
    }

    /// A part of the service itself, such as the command line or a job. It has no roles: see
    /// [`System`](super::System).
    pub fn system(name: &str) -> Self {
        Self {
            api_key_id: None,
            person: None,
            name: name.to_owned(),
            roles: Roles::default(),
            client_address: None,
            request_id: None,
        }
    }

    /// Whether the author is an administrator, and not the service itself.
    pub(super) fn is_administrator(&self) -> bool {
        self.api_key_id.is_some() || self.person.is_some()
    }

    /// The identifier of the administrator, for records that are made once.
    pub(super) fn uuid(&self) -> Option<Uuid> {
        let person = self.person.as_ref().map(|person| person.id().uuid());
        self.api_key_id.map(ApiKeyId::uuid).or(person)
    }
}

/// The name of a caller. Events have no member for a workload identity, so its name has the id.
fn name(caller: &Caller) -> String {
    match caller.credential_id() {
        CredentialId::ApiKey(_) => caller.name().to_owned(),
        CredentialId::Identity(id) => format!("{} ({id})", caller.name()),
    }
}
