//! Workload identities.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::request;
use super::{Editable, Operation, Resource};
use crate::open_set::open_set;

open_set! {
    /// The status of a workload identity.
    IdentityStatus {
        Active = "active",
        Disabled = "disabled",
    }
}

/// Which tokens or certificates belong to an identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityMatch {
    /// The issuer of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The subject of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Claims of the token. A name that begins with `/` is a JSON Pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<BTreeMap<String, Value>>,
    /// The SPIFFE ID of the certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spiffe_id: Option<String>,
    /// The fingerprint of the certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_sha256: Option<String>,
}

/// A workload identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadIdentity {
    /// The ID.
    pub id: String,
    /// The name.
    pub name: String,
    /// The service for which it calls.
    pub service_id: String,
    /// The policy that it uses if a request names none.
    pub policy_number: Option<String>,
    /// The allowed operations; none for all.
    pub allowed_operations: Option<Vec<Operation>>,
    /// Which tokens or certificates belong to it.
    pub r#match: IdentityMatch,
    /// The status.
    pub status: IdentityStatus,
    /// When it was last used.
    pub last_used_at: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// Whether its row in the database counts; only in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_valid: Option<bool>,
}

request! {
    /// A new workload identity.
    NewWorkloadIdentity {
        /// The name.
        name: String,
        /// The service for which it calls.
        service_id: String,
        /// Which tokens or certificates belong to it.
        r#match: IdentityMatch,
        ;
        /// The policy that it uses if a request names none.
        policy_number: String,
        /// The allowed operations.
        allowed_operations: Vec<Operation>,
        /// The status.
        status: IdentityStatus,
    }
}

request! {
    /// A change of a workload identity. `Some(None)` removes a member.
    WorkloadIdentityChanges {
        ;
        /// The name.
        name: String,
        /// The policy that it uses if a request names none.
        policy_number: Option<String>,
        /// The allowed operations.
        allowed_operations: Option<Vec<Operation>>,
        /// Which tokens or certificates belong to it.
        r#match: IdentityMatch,
        /// The status.
        status: IdentityStatus,
    }
}

request! {
    /// Which workload identities a list contains.
    WorkloadIdentityFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The exact name.
        name: String,
        /// A part of the name.
        name_contains: String,
        /// The service for which they call.
        service_id: String,
        /// The status.
        status: IdentityStatus,
    }
}

impl Resource for WorkloadIdentity {
    const PATH: &'static str = "/admin/identities";
    type Filter = WorkloadIdentityFilter;
}

impl Editable for WorkloadIdentity {
    type New = NewWorkloadIdentity;
    type Created = Self;
    type Changes = WorkloadIdentityChanges;
}
