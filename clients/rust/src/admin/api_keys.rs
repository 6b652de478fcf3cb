//! API keys.

use serde::{Deserialize, Serialize};

use super::request::request;
use super::{Editable, Operation, Resource};
use crate::Secret;
use crate::open_set::open_set;

open_set! {
    /// What an API key is for.
    #[derive(Default)]
    ApiKeyType {
        #[default]
        Live = "live",
        Test = "test",
        Admin = "admin",
    }
}

open_set! {
    /// The status of an API key.
    ApiKeyStatus {
        Active = "active",
        Revoked = "revoked",
        Expired = "expired",
    }
}

open_set! {
    /// What an administrator can do.
    Role {
        Owner = "owner",
        Custodian = "custodian",
        PolicyAdmin = "policy-admin",
        Auditor = "auditor",
    }
}

/// An API key without its secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// The ID.
    pub id: String,
    /// The name.
    pub name: String,
    /// What it is for.
    pub r#type: ApiKeyType,
    /// The service of a runtime key.
    pub service_id: Option<String>,
    /// The person of an admin key.
    pub person: Option<String>,
    /// The roles of an admin key.
    pub roles: Vec<Role>,
    /// The policy that it uses if a request names none.
    pub policy_number: Option<String>,
    /// The allowed operations; none for all.
    pub allowed_operations: Option<Vec<Operation>>,
    /// The networks from which it can be used; none for all.
    pub allowed_cidrs: Option<Vec<String>>,
    /// The fingerprint of the client certificate that it requires.
    pub certificate_sha256: Option<String>,
    /// The beginning and the end of the secret.
    pub hint: String,
    /// The status.
    pub status: ApiKeyStatus,
    /// When it expires.
    pub expires_at: Option<String>,
    /// When it was last used.
    pub last_used_at: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// When it was revoked.
    pub revoked_at: Option<String>,
    /// Whether its row in the database counts; only in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_valid: Option<bool>,
}

/// A new API key with its secret.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CreatedApiKey {
    /// The API key.
    #[serde(flatten)]
    pub api_key: ApiKey,
    /// The secret. No later response contains it.
    pub secret: Option<Secret>,
}

request! {
    /// A new API key.
    NewApiKey {
        /// The name.
        name: String,
        /// What it is for.
        r#type: ApiKeyType,
        ;
        /// The service of a runtime key.
        service_id: String,
        /// The person of an admin key.
        person: String,
        /// The roles of an admin key.
        roles: Vec<Role>,
        /// The policy that it uses if a request names none.
        policy_number: String,
        /// The allowed operations.
        allowed_operations: Vec<Operation>,
        /// The networks from which it can be used.
        allowed_cidrs: Vec<String>,
        /// The fingerprint of the client certificate that it requires.
        certificate_sha256: String,
        /// When it expires.
        expires_at: String,
    }
}

request! {
    /// A change of an API key. `Some(None)` removes a member.
    ApiKeyChanges {
        ;
        /// The name.
        name: String,
        /// The roles of an admin key.
        roles: Vec<Role>,
        /// The policy that it uses if a request names none.
        policy_number: Option<String>,
        /// The allowed operations.
        allowed_operations: Option<Vec<Operation>>,
        /// The networks from which it can be used.
        allowed_cidrs: Option<Vec<String>>,
        /// The fingerprint of the client certificate that it requires.
        certificate_sha256: Option<String>,
        /// When it expires.
        expires_at: Option<String>,
    }
}

request! {
    /// Which API keys a list contains.
    ApiKeyFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The exact name.
        name: String,
        /// A part of the name.
        name_contains: String,
        /// The service.
        service_id: String,
        /// What they are for.
        r#type: ApiKeyType,
        /// The status.
        status: ApiKeyStatus,
    }
}

impl Resource for ApiKey {
    const PATH: &'static str = "/admin/api-keys";
    type Filter = ApiKeyFilter;
}

impl Editable for ApiKey {
    type New = NewApiKey;
    type Created = CreatedApiKey;
    type Changes = ApiKeyChanges;
}
