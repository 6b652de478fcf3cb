//! The record of a change.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use super::changes::Judgement;
use super::resource_type::ResourceType;
use crate::resource::Identified;
use crate::revision::Revision;
use crate::seals::What;
use formats::closed_set;

/// A resource that administrators manage, as the API shows it. It holds no secrets.
pub trait Resource: Identified + Serialize {
    /// The type that events name.
    const TYPE: ResourceType;

    /// Judges the change from `before` to `after`: whether it can need approval. A new resource has no
    /// state before, and a deleted one none after.
    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement;
}

/// What the API returns of a resource: the resource alone, or with more.
pub trait ResourceView: Serialize {
    /// The resource.
    type Resource: Resource;

    /// The resource.
    fn resource(&self) -> &Self::Resource;
}

impl<R: Resource> ResourceView for R {
    type Resource = Self;

    fn resource(&self) -> &Self {
        self
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
        /// The deleted resource was restored.
        Restore = "restore",
        /// The service, or everything, was frozen.
        Freeze = "freeze",
        /// The freeze of everything ended.
        Unfreeze = "unfreeze",
        /// An operator disabled the key.
        Disable = "disable",
        /// The API key was revoked.
        Revoke = "revoke",
        /// The person was locked.
        Lock = "lock",
        /// The person was unlocked.
        Unlock = "unlock",
        /// The key was destroyed in the token.
        Destroy = "destroy",
        /// A person approved the change.
        Approve = "approve",
        /// A person rejected the change.
        Reject = "reject",
        /// Its proposer withdrew the change.
        Withdraw = "withdraw",
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
        /// A row of the database does not count.
        RowInvalid = "row.invalid",
        /// A row of the database is not as its last event says.
        RowDeviates = "row.deviates",
        /// An operator sealed a row of the database as it is.
        RowSealed = "row.sealed",
        /// Another generation of the row key seals.
        RowKeyRenewed = "row_key.renewed",
    }
}

impl Action {
    /// The kinds of events that take something away. Without a state before it, such an event says only what
    /// the resource lost: no token was needed to read the resource.
    pub(crate) const TAKING_AWAY: [Self; 4] =
        [Self::Freeze, Self::Disable, Self::Revoke, Self::Lock];

    /// Whether an event of this kind has the state of its resource from then on.
    pub(crate) const fn attests(self) -> bool {
        match self {
            Self::Create
            | Self::Update
            | Self::Delete
            | Self::Restore
            | Self::Revoke
            | Self::Destroy
            | Self::Freeze
            | Self::Disable
            | Self::Lock
            | Self::Unlock
            | Self::RowSealed => true,
            Self::Unfreeze
            | Self::Approve
            | Self::Reject
            | Self::Withdraw
            | Self::SignIn
            | Self::SignOut
            | Self::SignInFailed
            | Self::Refuse
            | Self::Read
            | Self::Export
            | Self::Start
            | Self::Stop
            | Self::TokenLost
            | Self::TokenFound
            | Self::PinRefused
            | Self::RowInvalid
            | Self::RowDeviates
            | Self::RowKeyRenewed => false,
        }
    }

    /// The entry of a change that is saved by this action.
    pub(super) fn entry(self) -> What {
        if self == Self::Lock { What::Locked } else { What::Changed }
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
    /// The judgement of a change; none for a security event.
    pub(super) judgement: Option<Judgement>,
    /// The revision before the change.
    pub(super) revision: Option<Revision>,
}

/// The answer to the request of a change: the resource that it shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventAnswer<'e> {
    pub(super) resource_type: ResourceType,
    /// The resource in JSON.
    pub(super) resource: &'e RawValue,
    /// The revision of a changed resource. A new one has the first.
    pub(super) changed_to: Option<Revision>,
}

impl<'e> EventAnswer<'e> {
    /// The answer that shows `resource`, whose JSON is `shown`, as it was before.
    pub(super) fn unchanged<R: Resource>(resource: &R, shown: &'e RawValue) -> Self {
        Self { resource_type: R::TYPE, resource: shown, changed_to: Some(resource.revision()) }
    }
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

    /// The creation of a resource, as far as it is known before the token makes the key.
    pub(super) fn planned<R: Resource>(judgement: Judgement, after: &Value) -> Self {
        Self {
            after: to_raw_value(after).ok(),
            judgement: Some(judgement),
            ..Self::bare(Action::Create, R::TYPE)
        }
    }

    /// An event without a resource.
    pub(super) fn bare(action: Action, resource_type: ResourceType) -> Self {
        Self {
            action,
            resource_type,
            resource_id: None,
            before: None,
            after: None,
            read_digest: None,
            judgement: None,
            revision: None,
        }
    }

    /// The answer to the request that made the change, if it can be sent again. A change that became stale
    /// is not the answer: its approval is refused.
    pub(super) fn answer(&self) -> Option<EventAnswer<'_>> {
        let is_decision =
            self.resource_type == ResourceType::Change && self.action != Action::Update;
        let is_changed = matches!(
            self.action,
            Action::Restore | Action::Freeze | Action::Unfreeze | Action::Lock | Action::Unlock
        );
        let is_answer = self.action == Action::Create || is_changed || is_decision;
        Some(EventAnswer {
            resource_type: self.resource_type,
            resource: self.after.as_deref().filter(|_| is_answer)?,
            changed_to: self.revision.filter(|_| is_changed).map(Revision::next),
        })
    }

    /// The states before and after the change.
    pub(super) fn states(&self) -> (Option<Value>, Option<Value>) {
        let value = |state: &Option<Box<RawValue>>| {
            state.as_ref().and_then(|state| serde_json::from_str(state.get()).ok())
        };
        (value(&self.before), value(&self.after))
    }

    /// The identifier of the resource, as the API shows it.
    pub(super) fn id(&self) -> Option<String> {
        self.resource_id.and_then(|id| self.resource_type.id(id))
    }

    /// The changed resource and its revision before the change; none for a new one.
    pub(super) fn state_before(&self) -> Option<(Uuid, Revision)> {
        self.resource_id.zip(self.revision)
    }

    fn of<R: Resource>(
        action: Action,
        resource: &R,
        before: Option<&R>,
        after: Option<&R>,
    ) -> Self {
        Self {
            resource_id: Some(resource.uuid()),
            before: before.and_then(|state| to_raw_value(state).ok()),
            after: after.and_then(|state| to_raw_value(state).ok()),
            judgement: Some(R::judge(before, after)),
            revision: before.map(Identified::revision),
            ..Self::bare(action, R::TYPE)
        }
    }
}
