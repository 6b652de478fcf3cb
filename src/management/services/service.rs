//! The resource.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::terms::Terms;
use crate::auth::{RateLimit, Tier};
use crate::catalog::Topic;
use crate::clock::Timestamp;
use crate::ids::ServiceId;
use crate::management::{Resource, Revision};

/// A service as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// Its identifier.
    pub id: ServiceId,
    /// Its name, unique.
    pub name: String,
    /// What people say about it.
    pub description: Option<String>,
    /// What it has been sold.
    pub tier: Tier,
    /// How much it may ask.
    pub rate_limit: RateLimit,
    /// Whether its public keys are published under `/.well-known/jwks/{id}`.
    pub publish_keys: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Its state, for the `ETag`.
    #[serde(skip)]
    pub revision: Revision,
}

impl Service {
    pub(super) fn new(id: ServiceId, now: Timestamp, terms: Terms) -> Self {
        Self {
            id,
            name: terms.name,
            description: terms.description,
            tier: terms.tier,
            rate_limit: terms.rate_limit,
            publish_keys: terms.publish_keys,
            created_at: now,
            updated_at: now,
            revision: Revision::FIRST,
        }
    }

    pub(super) fn with(&self, now: Timestamp, terms: Terms) -> Self {
        Self {
            created_at: self.created_at,
            revision: self.revision.next(),
            ..Self::new(self.id, now, terms)
        }
    }

    pub(super) fn terms(&self) -> Terms {
        Terms {
            name: self.name.clone(),
            description: self.description.clone(),
            tier: self.tier,
            rate_limit: self.rate_limit,
            publish_keys: self.publish_keys,
        }
    }

    /// The limit that was agreed with it, where its tier does not bring one.
    pub(super) fn agreed(&self) -> Option<RateLimit> {
        self.tier.rate_limit().is_none().then_some(self.rate_limit)
    }
}

impl Resource for Service {
    const TYPE: &'static str = "service";
    const TOPIC: Topic = Topic::Services;

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn revision(&self) -> Revision {
        self.revision
    }
}
