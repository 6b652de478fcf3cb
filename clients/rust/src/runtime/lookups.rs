//! Look-ups: the caller, policies, public keys and health.

use serde::{Deserialize, Serialize};

use crate::Client;
use crate::error::Error;
use crate::open_set::open_set;
use crate::transport::{Call, segment};

/// Who calls, and what the credential allows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// The ID of the service.
    pub service_id: String,
    /// The credential.
    pub credential: CallerCredential,
    /// The number of the policy of the credential.
    pub policy_number: Option<String>,
    /// The allowed operations; none if all are.
    pub allowed_operations: Option<Vec<String>>,
    /// The rate limit of the service.
    pub rate_limit: RateLimit,
}

/// The credential of a caller.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CallerCredential {
    /// `api_key` or `identity`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The ID of the API key or of the workload identity.
    pub id: String,
}

/// The rate limit of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// The rate.
    pub requests_per_second: u32,
    /// The most requests at once.
    pub burst: u32,
}

open_set! {
    /// The status of a policy in a look-up.
    PolicySummaryStatus {
        Active = "active",
        Inactive = "inactive",
        Frozen = "frozen",
    }
}

/// A policy as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicySummary {
    /// The ID.
    pub id: String,
    /// The number.
    pub policy_number: String,
    /// The status.
    pub status: PolicySummaryStatus,
    /// What happens while it is inactive.
    pub failure_mode: String,
    /// Who holds the private key: `service_managed` or `destination_managed`.
    pub key_ownership: String,
    /// The algorithm of the content key.
    pub alg: String,
    /// The algorithm of the content.
    pub enc: String,
    /// Whether each envelope needs a context.
    pub context_required: bool,
    /// Whether each envelope needs a policy.
    pub require_binding: bool,
    /// The optional members of the header.
    pub headers: Option<EnvelopeHeaders>,
    /// The public key for new envelopes.
    pub key: Option<PublishedJwk>,
}

/// The optional members of the headers of envelopes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeHeaders {
    /// `typ`
    pub typ: Option<String>,
    /// Whether the header contains the time of creation.
    #[serde(default)]
    pub iat: bool,
    /// `cty`
    pub cty: Option<String>,
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedJwk {
    /// The type.
    pub kty: String,
    /// The ID of the key.
    pub kid: String,
    /// `enc`, `sig` or `data`
    #[serde(rename = "use")]
    pub usage: String,
    /// The JOSE algorithm.
    pub alg: String,
    /// The curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// The x coordinate, or an Ed25519 key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The y coordinate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The modulus of an RSA key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// The exponent of an RSA key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// A key of another type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#pub: Option<String>,
}

/// The public keys of a service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JwkSet {
    /// The keys.
    pub keys: Vec<PublishedJwk>,
}

open_set! {
    /// The status of the service or of a part of it.
    HealthStatus {
        Ok = "ok",
        Degraded = "degraded",
        Unavailable = "unavailable",
    }
}

/// Whether the service works.
#[derive(Clone, Debug, Deserialize)]
pub struct Health {
    /// The status.
    pub status: HealthStatus,
    /// The version of Sealward.
    pub version: String,
    /// The time of the answer.
    pub timestamp: String,
    /// The parts.
    pub checks: HealthChecks,
}

/// The parts of the service.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthChecks {
    /// Postgres.
    pub database: HealthDatabase,
    /// The tokens.
    pub hsm: HealthHsm,
    /// The writer of the audit log.
    pub audit: HealthAudit,
    /// The rate limiter.
    pub rate_limiter: HealthPart,
    /// The rows of the database.
    pub records: HealthPart,
}

/// The status of a part without details.
#[derive(Clone, Debug, Deserialize)]
pub struct HealthPart {
    /// The status.
    pub status: HealthStatus,
}

/// The status of the database.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthDatabase {
    /// The status.
    pub status: HealthStatus,
    /// The time of a query.
    pub latency_ms: Option<f64>,
}

/// The status of the tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthHsm {
    /// The status.
    pub status: HealthStatus,
    /// The time of an operation.
    pub latency_ms: Option<f64>,
    /// Each token.
    pub tokens: Vec<HealthToken>,
    /// The IDs of keys that are not in a token.
    #[serde(default)]
    pub missing_keys: Vec<String>,
    /// The IDs of keys that were used too often.
    #[serde(default)]
    pub worn_keys: Vec<String>,
}

/// The status of a token.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthToken {
    /// Its label.
    pub label: String,
    /// The status.
    pub status: HealthStatus,
    /// The threads that work.
    pub workers: u64,
    /// The threads in the settings.
    pub configured_workers: u64,
}

/// The status of the audit log.
#[derive(Clone, Debug, Deserialize)]
pub struct HealthAudit {
    /// The status.
    pub status: HealthStatus,
    /// The records that wait.
    pub queued: u64,
}

impl Client {
    /// Who calls, and what the credential allows.
    pub async fn caller(&self) -> Result<Caller, Error> {
        self.answer(Call::get("/api/v1/caller")).await?.parse()
    }

    /// A policy under which the caller can protect.
    pub async fn policy(&self, number: &str) -> Result<PolicySummary, Error> {
        let path = format!("/api/v1/policies/{}", segment(number));
        self.answer(Call::get(path)).await?.parse()
    }

    /// Whether the service works. A service that does not is a result too.
    pub async fn health(&self) -> Result<Health, Error> {
        self.answer(Call::get("/api/v1/health").taking_unavailable()).await?.parse()
    }

    /// The public keys of a service that publishes them. It needs no credential.
    pub async fn jwks(&self, service_id: &str) -> Result<JwkSet, Error> {
        let path = format!("/.well-known/jwks/{}", segment(service_id));
        self.answer(Call::get(path).public()).await?.parse()
    }
}
