//! The record of a change.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::Revision;
use crate::catalog::Topic;

/// Something administrators change, as the API shows it. It holds no secrets.
pub trait Resource: Serialize {
    /// What events call it.
    const TYPE: &'static str;
    /// What of the catalog depends on it.
    const TOPIC: Topic;

    /// Which one it is.
    fn uuid(&self) -> Uuid;

    /// In which state it is.
    fn revision(&self) -> Revision;
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum Action {
    /// Something was made.
    Create,
    /// Something was changed.
    Update,
    /// Something was deleted.
    Delete,
    /// An API key was revoked.
    Revoke,
    /// A key's objects were destroyed in the token.
    Destroy,
}

/// A change of one resource, before and after.
#[derive(Debug)]
pub struct Event {
    pub(super) action: Action,
    pub(super) resource_type: &'static str,
    pub(super) resource_id: Uuid,
    pub(super) before: Option<Value>,
    pub(super) after: Option<Value>,
    pub(super) topic: Topic,
}

impl Event {
    /// `resource` was made.
    pub fn created<R: Resource>(resource: &R) -> Self {
        Self::of(Action::Create, resource, None, Some(resource))
    }

    /// `before` became `after`, by `action`.
    pub fn changed<R: Resource>(action: Action, before: &R, after: &R) -> Self {
        Self::of(action, before, Some(before), Some(after))
    }

    /// `resource` is gone.
    pub fn deleted<R: Resource>(resource: &R) -> Self {
        Self::of(Action::Delete, resource, Some(resource), None)
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
            topic: R::TOPIC,
        }
    }
}
