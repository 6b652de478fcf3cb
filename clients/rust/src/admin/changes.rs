//! Changes that need approval.

use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::request;
use super::resource::{path_of, post};
use super::{Resource, Resources};
use crate::Secret;
use crate::error::Error;
use crate::open_set::open_set;
use crate::transport::Call;

open_set! {
    /// The status of a change.
    ChangeStatus {
        Pending = "pending",
        Applied = "applied",
        Rejected = "rejected",
        Withdrawn = "withdrawn",
        Expired = "expired",
        Stale = "stale",
    }
}

open_set! {
    /// Why a change needs approval.
    ChangeKind {
        KeyImport = "key.import",
        KeyAdopt = "key.adopt",
        KeyActivate = "key.activate",
        KeyDestroy = "key.destroy",
        PolicyOpen = "policy.open",
        CredentialOpen = "credential.open",
        ApiKeyAdmin = "api-key.admin",
    }
}

/// A change that needs approval.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The ID.
    pub id: String,
    /// Why it needs approval.
    pub action: Vec<ChangeKind>,
    /// A text for people.
    pub summary: String,
    /// The type of the resource.
    pub resource_type: String,
    /// The resource; of a new one only after it was created.
    pub resource_id: Option<String>,
    /// Who proposed it.
    pub proposed_by: Proposer,
    /// When it was proposed.
    pub proposed_at: String,
    /// When it expires.
    pub expires_at: String,
    /// The approvals that it needs.
    pub required: u32,
    /// The approvals so far.
    pub approvals: Vec<Approval>,
    /// The rejection.
    pub rejection: Option<Approval>,
    /// The status.
    pub status: ChangeStatus,
    /// The state of the resource before it.
    pub before: Option<Value>,
    /// The state of the resource after it.
    pub after: Option<Value>,
    /// Whether its row in the database counts; only in lists.
    pub seal_valid: Option<bool>,
    /// The secret of a proposed API key, only in the response to the proposal.
    pub secret: Option<Secret>,
}

/// Who proposed a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposer {
    /// The person.
    pub person: Option<String>,
    /// The admin key.
    pub api_key_id: Option<String>,
    /// The name for people.
    pub name: String,
}

/// A decision about a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Approval {
    /// Who decided.
    pub person: String,
    /// When.
    pub at: String,
    /// Why.
    pub comment: Option<String>,
}

request! {
    /// Which changes a list contains.
    ChangeFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The status.
        status: ChangeStatus,
        /// Why they need approval.
        action: ChangeKind,
    }
}

#[derive(Serialize)]
pub(crate) struct Decision<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<&'a str>,
}

impl Resource for Change {
    const PATH: &'static str = "/admin/changes";
    type Filter = ChangeFilter;
}

impl Resources<'_, Change> {
    /// Approves a change. The last approval applies it.
    pub async fn approve(&self, id: &str, comment: Option<&str>) -> Result<Change, Error> {
        self.decide(id, "approve", comment).await
    }

    /// Rejects a change.
    pub async fn reject(&self, id: &str, comment: Option<&str>) -> Result<Change, Error> {
        self.decide(id, "reject", comment).await
    }

    /// Withdraws a change that the caller proposed.
    pub async fn withdraw(&self, id: &str) -> Result<(), Error> {
        let call = Call::new(Method::DELETE, path_of::<Change>(id));
        self.client().answer(call).await.map(drop)
    }

    async fn decide(
        &self,
        id: &str,
        decision: &str,
        comment: Option<&str>,
    ) -> Result<Change, Error> {
        let path = format!("{}/{decision}", path_of::<Change>(id));
        self.client().answer(post(path, &Decision { comment })?).await?.parse()
    }
}
