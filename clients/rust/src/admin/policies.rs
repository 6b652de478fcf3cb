//! Policies.

use serde::{Deserialize, Serialize};

use super::request::request;
use super::resource::{outcome, path_of, post};
use super::{Editable, Outcome, Resource, Resources, Stored};
use crate::EnvelopeHeaders;
use crate::error::Error;
use crate::open_set::open_set;

open_set! {
    /// The status of a policy.
    PolicyStatus {
        Active = "active",
        Inactive = "inactive",
    }
}

open_set! {
    /// What happens to payloads while a policy is inactive.
    FailureMode {
        Error = "error",
        Passthrough = "passthrough",
        Drop = "drop",
    }
}

open_set! {
    /// Who holds the private key.
    KeyOwnership {
        ServiceManaged = "service_managed",
        DestinationManaged = "destination_managed",
    }
}

open_set! {
    /// The algorithms of content keys.
    KeyWrappingAlgorithm {
        RsaOaep256 = "RSA-OAEP-256",
        RsaOaep = "RSA-OAEP",
        EcdhEsA256Kw = "ECDH-ES+A256KW",
        EcdhEsA128Kw = "ECDH-ES+A128KW",
        Hpke8Ke = "HPKE-8-KE",
        Hpke12Ke = "HPKE-12-KE",
        Hpke13Ke = "HPKE-13-KE",
    }
}

open_set! {
    /// The algorithms of contents.
    ContentEncryptionAlgorithm {
        A256Gcm = "A256GCM",
        A128Gcm = "A128GCM",
    }
}

open_set! {
    /// The operations that credentials and policies allow.
    Operation {
        Protect = "protect",
        Unprotect = "unprotect",
        Rewrap = "rewrap",
        Encrypt = "encrypt",
        Decrypt = "decrypt",
        Sign = "sign",
        Verify = "verify",
        Hash = "hash",
    }
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// The ID.
    pub id: String,
    /// The number.
    pub policy_number: String,
    /// The name.
    pub name: String,
    /// A text for people.
    pub description: Option<String>,
    /// The service whose key new envelopes use.
    pub destination_service_id: String,
    /// Who holds the private key.
    pub key_ownership: KeyOwnership,
    /// The algorithm of content keys.
    pub alg: KeyWrappingAlgorithm,
    /// The algorithm of contents.
    pub enc: ContentEncryptionAlgorithm,
    /// The status.
    pub status: PolicyStatus,
    /// What happens to payloads while it is inactive.
    pub failure_mode: FailureMode,
    /// The services that can use it; `*` for any.
    pub allowed_service_ids: Vec<String>,
    /// The allowed operations.
    pub allowed_operations: Vec<Operation>,
    /// Whether each envelope needs a context.
    pub context_required: bool,
    /// Whether each envelope needs a policy.
    pub require_binding: bool,
    /// The optional members of headers.
    pub headers: Option<EnvelopeHeaders>,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// Whether its row in the database counts; only in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_valid: Option<bool>,
}

request! {
    /// A new policy.
    NewPolicy {
        /// The name.
        name: String,
        /// The service whose key new envelopes use.
        destination_service_id: String,
        /// The services that can use it; `*` for any.
        allowed_service_ids: Vec<String>,
        ;
        /// The number. By default, Sealward generates one.
        policy_number: String,
        /// A text for people.
        description: String,
        /// Who holds the private key.
        key_ownership: KeyOwnership,
        /// The algorithm of content keys.
        alg: KeyWrappingAlgorithm,
        /// The algorithm of contents.
        enc: ContentEncryptionAlgorithm,
        /// The status.
        status: PolicyStatus,
        /// What happens to payloads while it is inactive.
        failure_mode: FailureMode,
        /// The allowed operations.
        allowed_operations: Vec<Operation>,
        /// Whether each envelope needs a context.
        context_required: bool,
        /// Whether each envelope needs a policy.
        require_binding: bool,
        /// The optional members of headers.
        headers: EnvelopeHeaders,
    }
}

request! {
    /// A change of a policy, or of a deleted policy that is restored.
    PolicyChanges {
        ;
        /// The number.
        policy_number: String,
        /// The name.
        name: String,
        /// A text for people. `Some(None)` removes it.
        description: Option<String>,
        /// The service whose key new envelopes use.
        destination_service_id: String,
        /// Who holds the private key.
        key_ownership: KeyOwnership,
        /// The algorithm of content keys.
        alg: KeyWrappingAlgorithm,
        /// The algorithm of contents.
        enc: ContentEncryptionAlgorithm,
        /// The status.
        status: PolicyStatus,
        /// What happens to payloads while it is inactive.
        failure_mode: FailureMode,
        /// The services that can use it; `*` for any.
        allowed_service_ids: Vec<String>,
        /// The allowed operations.
        allowed_operations: Vec<Operation>,
        /// Whether each envelope needs a context.
        context_required: bool,
        /// Whether each envelope needs a policy.
        require_binding: bool,
        /// The optional members of headers. `Some(None)` removes them.
        headers: Option<EnvelopeHeaders>,
    }
}

request! {
    /// Which policies a list contains.
    PolicyFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The exact name.
        name: String,
        /// A part of the name.
        name_contains: String,
        /// The status.
        status: PolicyStatus,
        /// The service whose key new envelopes use.
        destination_service_id: String,
        /// Deleted policies instead.
        deleted: bool,
    }
}

impl Resource for Policy {
    const PATH: &'static str = "/admin/policies";
    type Filter = PolicyFilter;
}

impl Editable for Policy {
    type New = NewPolicy;
    type Created = Self;
    type Changes = PolicyChanges;
}

impl Resources<'_, Policy> {
    /// Restores a deleted policy as inactive, with these changes.
    pub async fn restore(
        &self,
        id: &str,
        changes: &PolicyChanges,
    ) -> Result<Outcome<Stored<Policy>>, Error> {
        let path = format!("{}/restore", path_of::<Policy>(id));
        outcome(&self.client().answer(post(path, changes)?).await?)
    }
}
