//! The record of a change.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
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
        /// The dashboard.
        Dashboard = "dashboard",
        /// A management request.
        Request = "request",
        /// An audit log.
        AuditLog = "audit_log",
        /// An instance of the service.
        Instance = "instance",
        /// A PKCS#11 token.
        Token = "token",
    }
}

closed_set! {
    /// The kind of a change or of a security event.
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
        /// An administrator signed in to the dashboard.
        SignIn = "sign_in",
        /// An administrator signed out.
        SignOut = "sign_out",
        /// A sign-in failed.
        SignInFailed = "sign_in_failed",
        /// A management request was refused with 401 or 403.
        Refuse = "refuse",
        /// An audit log was read. Once per API key, filter and hour.
        Read = "read",
        /// An audit log was exported.
        Export = "export",
        /// An instance started.
        Start = "start",
        /// An instance stopped.
        Stop = "stop",
        /// A token became unavailable.
        TokenLost = "token_lost",
        /// A token became available again.
        TokenFound = "token_found",
        /// The PIN of a token was refused.
        PinRefused = "pin_refused",
    }
}

impl ResourceType {
    /// The part of the catalog that depends on such resources, if any.
    pub(super) const fn topic(self) -> Option<Topic> {
        match self {
            Self::Service => Some(Topic::Services),
            Self::Policy => Some(Topic::Policies),
            Self::Key | Self::ImportKey => Some(Topic::Keys),
            Self::ApiKey => Some(Topic::ApiKeys),
            Self::Dashboard | Self::Request | Self::AuditLog | Self::Instance | Self::Token => None,
        }
    }
}

/// A change of one resource, before and after, or a security event.
#[derive(Debug)]
pub struct Event {
    pub(super) action: Action,
    pub(super) resource_type: ResourceType,
    pub(super) resource_id: Option<Uuid>,
    pub(super) before: Option<Box<RawValue>>,
    pub(super) after: Option<Box<RawValue>>,
    /// The digest of a read that is recorded once.
    pub(super) read_digest: Option<[u8; 32]>,
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
    pub(super) fn creation(&self) -> Option<(ResourceType, &RawValue)> {
        let is_creation = self.action == Action::Create;
        let resource = self.after.as_deref().filter(|_| is_creation)?;
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
            resource_id: Some(resource.uuid()),
            before: before.and_then(|state| to_raw_value(state).ok()),
            after: after.and_then(|state| to_raw_value(state).ok()),
            read_digest: None,
        }
    }
}
