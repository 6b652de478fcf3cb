//! The management API.

mod api_keys;
mod audit;
mod changes;
mod emergency;
mod export;
mod identities;
mod keys;
mod pager;
mod people;
mod policies;
mod reports;
mod request;
mod resource;
mod services;

pub use self::api_keys::*;
pub use self::audit::*;
pub use self::changes::*;
pub use self::emergency::*;
pub use self::export::Export;
pub use self::identities::*;
pub use self::keys::*;
#[cfg(test)]
pub(crate) use self::pager::Page;
pub use self::pager::Pager;
pub use self::people::*;
pub use self::policies::*;
pub use self::reports::*;
pub use self::resource::{Editable, Outcome, Resource, Resources, Stored};
pub use self::services::*;
#[cfg(test)]
pub(crate) use self::{
    changes::Decision,
    emergency::{NewFreeze, Unfreeze},
    keys::NewImportParameters,
    people::{NewPerson, NewPersonLock},
};

use crate::Client;

/// The management API. The credential of the client is an admin key or an access token.
#[derive(Clone, Copy, Debug)]
pub struct Management<'a> {
    client: &'a Client,
}

impl<'a> Management<'a> {
    pub(crate) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Services.
    pub fn services(self) -> Resources<'a, Service> {
        Resources::new(self.client)
    }

    /// Policies. The number of a policy also is its ID.
    pub fn policies(self) -> Resources<'a, Policy> {
        Resources::new(self.client)
    }

    /// Keys.
    pub fn keys(self) -> Resources<'a, Key> {
        Resources::new(self.client)
    }

    /// API keys. Deleting one revokes it.
    pub fn api_keys(self) -> Resources<'a, ApiKey> {
        Resources::new(self.client)
    }

    /// Workload identities.
    pub fn identities(self) -> Resources<'a, WorkloadIdentity> {
        Resources::new(self.client)
    }

    /// People.
    pub fn people(self) -> Resources<'a, Person> {
        Resources::new(self.client)
    }

    /// Changes that need approval.
    pub fn changes(self) -> Resources<'a, Change> {
        Resources::new(self.client)
    }

    /// The emergency switch.
    pub fn emergency(self) -> EmergencySwitch<'a> {
        EmergencySwitch::new(self.client)
    }

    /// The audit logs.
    pub fn audit(self) -> Audit<'a> {
        Audit::new(self.client)
    }

    /// Signed reports for auditors.
    pub fn reports(self) -> Reports<'a> {
        Reports::new(self.client)
    }
}
