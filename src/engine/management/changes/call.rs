//! A use case with its input, as a change keeps it until it is approved.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::auth::{ApiKeyDigest, ApiKeySecret};
use crate::management::ResourceType;
use crate::resource::{RequestBody, ResourceRequest, SentBody};
use formats::clock::Timestamp;

/// A use case with its input. It holds no secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRequest {
    pub(super) verb: Verb,
    pub(super) resource_type: ResourceType,
    pub(super) body: Option<SentBody>,
    /// The digest of a new API key.
    pub(super) credential: Option<NewCredential>,
    /// The time after which the input is no longer usable.
    pub(super) usable_until: Option<Timestamp>,
}

/// The effect of a use case on its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::management) enum Verb {
    Create,
    Update,
    Delete,
    Restore,
    Unlock,
}

/// A new API key, without the key itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::management) struct NewCredential {
    digest: [u8; 32],
    pub(in crate::management) last_four: String,
}

impl StoredRequest {
    pub(in crate::management) fn create<B: RequestBody>(
        resource_type: ResourceType,
        request: &ResourceRequest<B>,
    ) -> Self {
        Self { body: request.sent(), ..Self::of(Verb::Create, resource_type) }
    }

    /// Changes a resource.
    pub(in crate::management) fn update<B: RequestBody>(
        resource_type: ResourceType,
        request: &ResourceRequest<B>,
    ) -> Self {
        Self { body: request.sent(), ..Self::of(Verb::Update, resource_type) }
    }

    /// Restores a deleted resource with these changes.
    pub(in crate::management) fn restore<B: RequestBody>(
        resource_type: ResourceType,
        request: &ResourceRequest<B>,
    ) -> Self {
        Self { body: request.sent(), ..Self::of(Verb::Restore, resource_type) }
    }

    pub(in crate::management) fn delete(resource_type: ResourceType) -> Self {
        Self::of(Verb::Delete, resource_type)
    }

    pub(in crate::management) fn unlock(resource_type: ResourceType) -> Self {
        Self::of(Verb::Unlock, resource_type)
    }

    /// The body in JSON.
    pub(in crate::management) fn body(&self) -> Option<Value> {
        serde_json::from_str(self.body.as_ref()?.text()).ok()
    }

    /// The same call with another member in its body.
    pub(in crate::management) fn with_member(self, name: &str, member: Value) -> Self {
        Self { body: self.body.and_then(|body| body.with(name, member)), ..self }
    }

    /// The same call with the digest of the API key that it creates.
    pub(in crate::management) fn with_credential(self, credential: NewCredential) -> Self {
        Self { credential: Some(credential), ..self }
    }

    /// The same call, which must be approved before `end`.
    pub(in crate::management) fn usable_until(self, end: Option<Timestamp>) -> Self {
        Self { usable_until: end, ..self }
    }

    fn of(verb: Verb, resource_type: ResourceType) -> Self {
        Self { verb, resource_type, body: None, credential: None, usable_until: None }
    }
}

impl NewCredential {
    pub(in crate::management) fn of(key: &ApiKeySecret) -> Self {
        Self { digest: *key.at_rest().as_bytes(), last_four: key.last_four().to_owned() }
    }

    pub(in crate::management) fn at_rest(&self) -> ApiKeyDigest {
        ApiKeyDigest::from_bytes(self.digest)
    }
}
