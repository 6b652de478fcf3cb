//! Services.

use serde::{Deserialize, Serialize};

use super::request::request;
use super::{Editable, Resource};
use crate::RateLimit;
use crate::open_set::open_set;

open_set! {
    /// The status of a service.
    ServiceStatus {
        Active = "active",
        Frozen = "frozen",
    }
}

open_set! {
    /// What determines the rate limit of a service.
    Tier {
        Standard = "standard",
        Professional = "professional",
        Enterprise = "enterprise",
    }
}

/// A service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// The ID.
    pub id: String,
    /// The name.
    pub name: String,
    /// A text for people.
    pub description: Option<String>,
    /// The status.
    pub status: ServiceStatus,
    /// The tier.
    pub tier: Tier,
    /// The rate limit.
    pub rate_limit: RateLimit,
    /// Whether its public keys are available without authentication.
    pub publish_keys: bool,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// Whether its row in the database counts; only in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_valid: Option<bool>,
}

request! {
    /// A new service.
    NewService {
        /// The name.
        name: String,
        ;
        /// A text for people.
        description: String,
        /// The status.
        status: ServiceStatus,
        /// The tier.
        tier: Tier,
        /// The rate limit, for the tier `enterprise` only.
        rate_limit: RateLimit,
        /// Whether its public keys are available without authentication.
        publish_keys: bool,
    }
}

request! {
    /// A change of a service.
    ServiceChanges {
        ;
        /// The name.
        name: String,
        /// A text for people. `Some(None)` removes it.
        description: Option<String>,
        /// The status.
        status: ServiceStatus,
        /// The tier.
        tier: Tier,
        /// The rate limit, for the tier `enterprise` only.
        rate_limit: RateLimit,
        /// Whether its public keys are available without authentication.
        publish_keys: bool,
    }
}

request! {
    /// Which services a list contains.
    ServiceFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The exact name.
        name: String,
        /// A part of the name.
        name_contains: String,
        /// The status.
        status: ServiceStatus,
    }
}

impl Resource for Service {
    const PATH: &'static str = "/admin/services";
    type Filter = ServiceFilter;
}

impl Editable for Service {
    type New = NewService;
    type Created = Self;
    type Changes = ServiceChanges;
}
