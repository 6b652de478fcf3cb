//! The record of a change.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::catalog::Topic;
use crate::closed_set;
use crate::resource::Identified;

/// A resource that administrators manage, as the API shows it. It holds no secrets.
pub trait Resource: Identified + Serialize {
    /// The type that events name.
    const TYPE: ResourceType;
}

closed_set! {
    /// The type of a resource.
    pub enum ResourceType: "ResourceType" {
        /// A service.
        Service = "service",
        /// A policy.
        Policy = "policy",
        /// A key.
        Key = "key",
        /// An API key.
        ApiKey = "api_key",
        /// The wrapping key of an import.
        ImportKey = "import_key",
    }
}

closed_set! {
    /// The kind of a change.
    pub enum Action: "Action" {
        /// The resource was created.
        Create = "create",
        /// It was changed.
        Update = "update",
        /// It was deleted.
        Delete = "delete",
        /// The API key was revoked.
        Revoke = "revoke",
        /// The key was destroyed in the token.
        Destroy = "destroy",
    }
}

impl ResourceType {
    /// The part of the catalog that depends on such resources.
    pub(super) const fn topic(self) -> Topic {
        match self {
            Self::Service => Topic::Services,
            Self::Policy => Topic::Policies,
            Self::Key | Self::ImportKey => Topic::Keys,
            Self::ApiKey => Topic::ApiKeys,
        }
    }
}

/// A change of one resource, before and after.
#[derive(Debug)]
pub struct Event {
    pub(super) action: Action,
    pub(super) resource_type: ResourceType,
    pub(super) resource_id: Uuid,
    pub(super) before: Option<Value>,
    pub(super) after: Option<Value>,
}

impl Event {
    /// `resource` was created.
    pub fn created<R: Resource>(resource: &R) -> Self {
        Self::of(Action::Create, resource, None, Some(resource))
    }

    /// `before` became `after`, by `action`.
    pub fn changed<R: Resource>(action: Action, before: &R, after: &R) -> Self {
        Self::of(action, before, Some(before), Some(after))
    }

    /// `resource` was deleted.
    pub fn deleted<R: Resource>(resource: &R) -> Self {
        Self::of(Action::Delete, resource, Some(resource), None)
    }

    /// The resource that the event created, with its type.
    pub(super) fn creation(&self) -> Option<(ResourceType, &Value)> {
        let is_creation = self.action == Action::Create;
        let resource = self.after.as_ref().filter(|_| is_creation)?;
        Some((self.resource_type, resource))
    }

    fn of<R: Resource>(
        action: Action,
        resource: &R,
        before: Option<&R>,
        after: Option<&R>,
    ) -> Self {
        Self {
            action,
            resource_type: R::TYPE,
            resource_id: resource.uuid(),
            before: before.and_then(|state| serde_json::to_value(state).ok()),
            after: after.and_then(|state| serde_json::to_value(state).ok()),
        }
    }
}
