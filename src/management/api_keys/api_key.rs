//! The resource.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::terms::{Owner, Terms};
use crate::auth::Kind;
use crate::catalog::Topic;
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, PolicyId, ServiceId};
use crate::management::{Resource, Revision};
use crate::operation::Operations;

/// An API key as the API shows it: everything but the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Its identifier.
    pub id: ApiKeyId,
    /// Its name, for people.
    pub name: String,
    /// What it is for.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The calling service; null for administrators.
    pub service_id: Option<ServiceId>,
    /// The policy that is used when a request names none.
    pub policy_number: Option<String>,
    /// What it may be used for; null for everything its type may.
    pub allowed_operations: Option<Operations>,
    /// Where it may be used from; null for anywhere.
    #[schema(value_type = Option<Vec<String>>)]
    pub allowed_cidrs: Option<Vec<IpNet>>,
    /// How people tell it from others.
    pub hint: String,
    /// Whether it is good.
    pub status: Status,
    /// From when it is not good any more.
    pub expires_at: Option<Timestamp>,
    /// When it last authenticated, some seconds late.
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The policy behind `policy_number`.
    #[serde(skip)]
    pub policy_id: Option<PolicyId>,
    /// Its state, for the `ETag`.
    #[serde(skip)]
    pub revision: Revision,
}

/// Whether an API key is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[schema(as = ApiKeyStatus)]
pub enum Status {
    /// It is.
    Active,
    /// An administrator ended it.
    Revoked,
    /// Its time is over.
    Expired,
}

impl Status {
    pub(super) fn of(
        now: Timestamp,
        revoked_at: Option<Timestamp>,
        expires_at: Option<Timestamp>,
    ) -> Self {
        if revoked_at.is_some() {
            Self::Revoked
        } else if expires_at.is_some_and(|expiry| expiry <= now) {
            Self::Expired
        } else {
            Self::Active
        }
    }
}

impl ApiKey {
    pub(super) fn new(
        id: ApiKeyId,
        now: Timestamp,
        owner: Owner,
        last_four: &str,
        terms: Terms,
    ) -> Self {
        let (policy_id, policy_number) = terms.policy.unzip();
        Self {
            id,
            name: terms.name,
            kind: owner.kind(),
            service_id: owner.service_id(),
            policy_number,
            allowed_operations: terms.allowed_operations,
            allowed_cidrs: terms.allowed_cidrs,
            hint: hint(owner.kind(), last_four),
            status: Status::of(now, None, terms.expires_at),
            expires_at: terms.expires_at,
            last_used_at: None,
            created_at: now,
            updated_at: now,
            revoked_at: None,
            policy_id,
            revision: Revision::FIRST,
        }
    }

    pub(super) fn with(&self, now: Timestamp, terms: Terms) -> Self {
        let (policy_id, policy_number) = terms.policy.unzip();
        Self {
            name: terms.name,
            policy_number,
            allowed_operations: terms.allowed_operations,
            allowed_cidrs: terms.allowed_cidrs,
            status: Status::of(now, self.revoked_at, terms.expires_at),
            expires_at: terms.expires_at,
            updated_at: now,
            policy_id,
            revision: self.revision.next(),
            ..self.clone()
        }
    }

    pub(super) fn revoked(&self, now: Timestamp) -> Self {
        Self {
            status: Status::Revoked,
            revoked_at: Some(now),
            updated_at: now,
            revision: self.revision.next(),
            ..self.clone()
        }
    }

    pub(super) fn terms(&self) -> Terms {
        Terms {
            name: self.name.clone(),
            policy: self.policy_id.zip(self.policy_number.clone()),
            allowed_operations: self.allowed_operations,
            allowed_cidrs: self.allowed_cidrs.clone(),
            expires_at: self.expires_at,
        }
    }
}

/// As much of a key as may be shown: `sk_live_…a1b2`.
pub(super) fn hint(kind: Kind, last_four: &str) -> String {
    format!("{}…{last_four}", kind.prefix())
}

impl Resource for ApiKey {
    const TYPE: &'static str = "api_key";
    const TOPIC: Topic = Topic::ApiKeys;

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn revision(&self) -> Revision {
        self.revision
    }
}
