//! A change that needs approval.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Judgement;
use crate::auth::ApiKeySecret;
use crate::change_kind::ChangeKind;
use crate::ids::{ApiKeyId, ChangeId, PersonId};
use crate::management::{Resource, ResourceType};
use crate::resource::Identified;
use crate::revision::Revision;
use formats::clock::Timestamp;
use formats::closed_set;

closed_set! {
    /// The state of a change.
    pub enum ChangeStatus: "ChangeStatus" {
        /// It awaits approval. Nothing has happened yet.
        Pending = "pending",
        /// It was approved and made.
        Applied = "applied",
        /// A person rejected it.
        Rejected = "rejected",
        /// Its proposer withdrew it.
        Withdrawn = "withdrawn",
        /// It was not approved in time.
        Expired = "expired",
        /// It can no longer be made, such as because its resource changed.
        Stale = "stale",
    }
}

/// A change that needs the approval of other people.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Change)]
pub struct Proposal {
    /// The identifier.
    pub id: ChangeId,
    /// The kinds of the change that need approval.
    pub action: Vec<ChangeKind>,
    /// The change in one sentence. It does not name a resource that the reader may not see.
    pub summary: String,
    /// The type of the resource.
    pub resource_type: ResourceType,
    /// The changed or created resource; null until the change is applied, and for readers who may not see it.
    pub resource_id: Option<String>,
    /// The author of the change.
    pub proposed_by: Proposer,
    /// The time of the proposal.
    pub proposed_at: Timestamp,
    /// The time after which the change can no longer be approved.
    pub expires_at: Timestamp,
    /// The number of approvals that the change needs.
    pub required: i32,
    /// The approvals so far.
    pub approvals: Vec<Approval>,
    /// The rejection; null if it was not rejected.
    pub rejection: Option<Approval>,
    /// The state.
    pub status: ChangeStatus,
    /// The resource before the change; null for a new one, and for readers who may not see the resource.
    pub before: Option<Value>,
    /// The resource after the change, or the request for a key that does not exist yet. Null for readers
    /// who may not see the resource. A wrapped key is shown as its digest.
    pub after: Option<Value>,
    /// False if its row in the database does not count, because something else than the service wrote it. Otherwise
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    pub seal_valid: Option<bool>,
    /// The API keys of the approvers, or the people who signed in.
    #[serde(skip)]
    pub(super) approver_ids: Vec<Option<Uuid>>,
    /// The resource to change, in the state in which it was proposed.
    #[serde(skip)]
    pub(super) target: Option<Target>,
    #[serde(skip)]
    pub(super) revision: Revision,
}

/// The author of a change that needs approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Proposer {
    /// The person; null if the credential names none.
    pub person: Option<String>,
    /// The API key; null for a person who signed in, and for readers who may not see admin keys.
    pub api_key_id: Option<ApiKeyId>,
    /// The name of the API key or of the person; `admin key` for readers who may not see admin keys.
    pub name: String,
    /// The person who signed in; none for an API key.
    #[serde(skip)]
    pub(in crate::management) person_id: Option<PersonId>,
}

/// The decision of one person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// The person.
    pub person: String,
    /// The time.
    pub at: Timestamp,
    /// The reason, if the person gave one.
    pub comment: Option<String>,
}

/// A resource in a certain state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: Uuid,
    pub(super) revision: Revision,
}

/// A change that was proposed in place of being made.
#[derive(Debug)]
pub struct Proposed {
    /// The change.
    pub proposal: Proposal,
    /// The API key that it creates. It authenticates after the change is applied.
    pub secret: Option<ApiKeySecret>,
}

impl Proposer {
    /// The API key, or the person who signed in.
    pub(super) fn uuid(&self) -> Option<Uuid> {
        self.api_key_id.map(ApiKeyId::uuid).or(self.person_id.map(PersonId::uuid))
    }
}

impl Identified for Proposal {
    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn revision(&self) -> Revision {
        self.revision
    }
}

impl Resource for Proposal {
    const TYPE: ResourceType = ResourceType::Change;

    /// A proposal and its decisions change no resource.
    fn judge(_: Option<&Self>, _: Option<&Self>) -> Judgement {
        Judgement::default()
    }
}

impl Proposal {
    /// The credentials of the approvers, with the times of their approvals.
    pub(super) fn signatures(&self) -> Vec<(Option<Uuid>, Timestamp)> {
        let times = self.approvals.iter().map(|approval| approval.at);
        self.approver_ids.iter().copied().zip(times).collect()
    }

    /// The people who approved it.
    pub(in crate::management) fn approvers(&self) -> Vec<String> {
        let approvals = self.approvals.iter();
        approvals.map(|approval| approval.person.clone()).collect()
    }

    /// The same proposal in another state.
    pub(super) fn become_status(&self, status: ChangeStatus) -> Self {
        Self { status, revision: self.revision.next(), ..self.clone() }
    }

    /// The same proposal with one more approval.
    pub(super) fn approved_by(&self, approval: Approval, approver: Option<Uuid>) -> Self {
        let mut after = self.become_status(self.status);
        after.approvals.push(approval);
        after.approver_ids.push(approver);
        after
    }
}
