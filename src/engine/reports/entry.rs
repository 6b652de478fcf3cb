//! A key in the register.

use serde::Serialize;
use utoipa::ToSchema;

use crate::ids::{KeyId, ServiceId};
use crate::keys::{KeyOrigin, KeyStatus, KeyVersion, RotationDays, Usage};
use crate::policy::{AllowedServices, PolicyNumber, PolicyStatus};
use formats::algorithms::QuantumStatus;
use formats::clock::Timestamp;
use formats::envelope::{Alg, Enc};
use formats::material::Algorithm;

/// A key, with all that an auditor asks about it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRegisterEntry)]
pub struct KeyEntry {
    /// The key.
    pub key_id: KeyId,
    /// The service that owns the key; null for keys of Sealward's own.
    pub service_id: Option<ServiceId>,
    /// The name of that service.
    pub service_name: Option<String>,
    /// The name for people.
    pub name: String,
    /// The number among the keys of its service with this name; null for `enc` keys.
    pub version: Option<KeyVersion>,
    /// The only use that the token allows.
    #[serde(rename = "use")]
    pub usage: Usage,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The strength in bits, as NIST SP 800-57 part 1 counts it. A hybrid key is as strong as its stronger part.
    pub strength: u16,
    /// Whether a quantum computer can break the key.
    pub quantum_status: QuantumStatus,
    /// The origin.
    pub origin: KeyOrigin,
    /// The state.
    pub status: KeyStatus,
    /// Whether the tokens have the private or secret key.
    pub has_private: bool,
    /// The labels of the tokens that held the key at the last comparison of tokens and records; null for keys of
    /// Sealward's own, which are not compared.
    pub tokens: Option<Vec<String>>,
    /// Whether the private or secret key can leave the token; null if Sealward does not have it.
    pub extractable: Option<bool>,
    /// The thumbprint of the public key (RFC 7638); null for secret keys.
    pub thumbprint: Option<String>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last activation; null before the first.
    pub activated_at: Option<Timestamp>,
    /// The time at which the key last protected, encrypted or signed, up to the day of the report.
    pub last_protected_at: Option<Timestamp>,
    /// The time at which the key last opened, decrypted or verified, up to the day of the report.
    pub last_opened_at: Option<Timestamp>,
    /// The number of requests that used the key in the 30 days that end with the day of the report.
    pub uses_in_30_days: i64,
    /// The time from which the key does not protect, encrypt or sign; null for none.
    pub expires_at: Option<Timestamp>,
    /// The number of days from the activation to that of the successor; null for no rotation.
    pub rotation_days: Option<RotationDays>,
    /// The time at which a successor takes over; null for no rotation and for keys that are not active.
    pub rotates_at: Option<Timestamp>,
    /// The key that replaces or replaced this one; null for none.
    pub successor: Option<KeyId>,
    /// The scheduled time of the destruction; null unless the key was deleted.
    pub destroy_at: Option<Timestamp>,
    /// The policies that use the key: those of its service and family. Empty for keys that are not for envelopes.
    pub policies: Vec<PolicyEntry>,
    /// Who created the key; null if the audit log does not say.
    pub created_by: Option<Maker>,
    /// The people who approved its creation or a later change, sorted.
    pub approved_by: Vec<String>,
    /// False if the record of the key does not count. Left out if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_valid: Option<bool>,
}

/// A policy that uses a key.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRegisterPolicy)]
pub struct PolicyEntry {
    /// The number of the policy.
    pub policy_number: PolicyNumber,
    /// Its state.
    pub status: PolicyStatus,
    /// Whether it was deleted. It still decides who opens its envelopes.
    pub deleted: bool,
    /// The algorithm that wraps the content key.
    pub alg: Alg,
    /// The algorithm that encrypts the content.
    pub enc: Enc,
    /// The service whose keys protect the payloads.
    pub destination_service_id: ServiceId,
    /// The services that may use the policy, or `["*"]`.
    #[schema(value_type = Vec<String>)]
    pub allowed_service_ids: AllowedServices,
}

/// Who created a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyMaker)]
pub struct Maker {
    /// The name of the admin key or the person at the time, of the command or of the job.
    pub actor: String,
    /// The person; null if unknown.
    pub person: Option<String>,
}
