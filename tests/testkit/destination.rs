//! Destination services and the requests of the runtime API.

use serde_json::{Value, json};

use super::{Answer, Client, Process, World};

pub const PROTECT: &str = "/api/v1/protect";
pub const UNPROTECT: &str = "/api/v1/unprotect";
pub const REWRAP: &str = "/api/v1/rewrap";
pub const DATA_KEYS: &str = "/api/v1/data-keys";
pub const PROTECT_BATCH: &str = "/api/v1/protect/batch";
pub const UNPROTECT_BATCH: &str = "/api/v1/unprotect/batch";
pub const REWRAP_BATCH: &str = "/api/v1/rewrap/batch";
pub const OPERATIONS: &str = "/api/v1/operations";

impl World {
    /// Generates a key of `service` in the token and returns its ID.
    pub async fn key(&self, service: &str, usage: &str, algorithm: &str) -> String {
        self.admin().create_key(service, usage, algorithm).await
    }

    /// Creates a service with an envelope key and a policy with this algorithm.
    pub async fn destination(&self, name: &str, algorithm: &str, alg: &str) -> Destination {
        self.admin().create_destination(name, algorithm, alg).await
    }

    /// A destination with a P-256 key, which is fast to create.
    pub async fn some_destination(&self) -> Destination {
        self.admin().create_some_destination().await
    }

    /// A destination and an application whose API key is bound to its policy.
    pub async fn bound_application(&self) -> (Destination, Client<'_>) {
        let destination = self.some_destination().await;
        let application = self.application("alice").bound_to(&destination.policy);
        (destination, application.await)
    }

    /// Changes members of a policy.
    pub async fn change_policy(&self, destination: &Destination, change: Value) {
        let path = format!("/admin/policies/{}", destination.policy_id);
        self.admin().put(&path, change).await.ok();
    }

    /// Changes members of a key.
    pub async fn change_key(&self, key: &str, change: Value) {
        self.admin().put(&format!("/admin/keys/{key}"), change).await.ok();
    }
}

impl Process {
    /// Creates a service with an envelope key and a policy with this algorithm.
    pub async fn destination(&self, name: &str, algorithm: &str, alg: &str) -> Destination {
        self.admin().create_destination(name, algorithm, alg).await
    }

    /// A destination and an application whose API key is bound to its policy.
    pub async fn bound_application(&self) -> (Destination, Client<'_>) {
        let destination = self.admin().create_some_destination().await;
        let application = self.application("alice").bound_to(&destination.policy);
        (destination, application.await)
    }
}

/// What an administrator arranges.
impl Client<'_> {
    /// Creates a service and returns its ID.
    pub(super) async fn create_service(&self, name: &str) -> String {
        let created = self.post("/admin/services", json!({ "name": name })).await;
        created.created().text("id")
    }

    /// Generates a key of `service` in the token and returns its ID.
    pub(super) async fn create_key(&self, service: &str, usage: &str, algorithm: &str) -> String {
        let arguments = json!({
            "serviceId": service,
            "name": format!("{usage} {algorithm}"),
            "use": usage,
            "algorithm": algorithm,
            "generate": true,
        });
        let created = self.post("/admin/keys", arguments).await;
        created.created().text("id")
    }

    async fn create_destination(&self, name: &str, algorithm: &str, alg: &str) -> Destination {
        let service = self.create_service(name).await;
        let key = self.create_key(&service, "enc", algorithm).await;
        let policy = json!({ "name": name, "destinationServiceId": service, "alg": alg,
            "allowedServiceIds": ["*"] });
        let created = self.post("/admin/policies", policy).await.created();
        Destination {
            service,
            key,
            policy_id: created.text("id"),
            policy: created.text("policyNumber"),
        }
    }

    async fn create_some_destination(&self) -> Destination {
        self.create_destination("destination", "P-256", "ECDH-ES+A256KW").await
    }
}

/// A destination service with its key and policy.
pub struct Destination {
    pub service: String,
    pub key: String,
    pub policy_id: String,
    pub policy: String,
}

impl Client<'_> {
    /// Protects with the policy that is bound to the API key.
    pub async fn protect(&self, payload: Value) -> Answer {
        self.post(PROTECT, json!({ "payload": payload })).await
    }

    pub async fn protect_under(&self, policy: &str, payload: Value) -> Answer {
        let body = json!({ "payload": payload, "policyNumber": policy });
        self.post(PROTECT, body).await
    }

    pub async fn unprotect(&self, jwe: &Value) -> Answer {
        self.post(UNPROTECT, json!({ "jwe": jwe })).await
    }

    pub async fn operate(&self, operation: &str, payload: Value) -> Answer {
        let body = json!({ "operation": operation, "payload": payload });
        self.post(OPERATIONS, body).await
    }
}

/// The envelope in a response of `/protect`.
pub fn jwe(protected: &Answer) -> Value {
    protected.clone().ok().json()["jwe"].clone()
}

/// The header of an envelope.
pub fn header_of(envelope: &Value) -> Value {
    let protected = envelope["protected"].as_str().expect("a string");
    let header = formats::binary::from_base64url(protected).expect("base64url");
    serde_json::from_slice(&header).expect("a header in JSON")
}
