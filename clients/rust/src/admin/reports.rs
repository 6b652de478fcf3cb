//! Signed reports for auditors.

use serde::Deserialize;

use super::request::request;
use crate::Client;
use crate::error::Error;
use crate::runtime::JwkSet;
use crate::transport::Call;

const KEYS: &str = "/admin/reports/keys";
const CBOM: &str = "/admin/reports/cbom";
const JWKS: &str = "/admin/reports/jwks";
const SIGNATURE: &str = "x-report-signature";

/// A report as the service signed it. Keep the body and the signature together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedReport {
    /// The bytes that are signed.
    pub body: Vec<u8>,
    /// A detached JWS of the body.
    pub signature: String,
}

/// The keys of an installation at a checkpoint of its audit logs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct KeyRegister {
    /// The last day whose uses count.
    pub at: String,
    /// The checkpoints of the audit logs.
    pub checkpoints: ReportCheckpoints,
    /// The keys that the report contains.
    pub filter: KeyRegisterFilter,
    /// The keys.
    pub keys: Vec<KeyRegisterEntry>,
}

/// The checkpoints at which a report was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ReportCheckpoints {
    /// The log of operations.
    pub operations: ReportCheckpoint,
    /// The log of management events.
    pub management: ReportCheckpoint,
}

/// A checkpoint without its signatures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ReportCheckpoint {
    /// The name of the log.
    pub origin: String,
    /// The number of records.
    pub size: u64,
    /// The root of the tree, base64-encoded.
    pub root: String,
}

/// The filter of a register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct KeyRegisterFilter {
    /// The algorithm.
    pub algorithm: Option<String>,
    /// The strength in bits that the keys do not reach.
    pub strength_below: Option<u16>,
    /// The policy that uses the keys.
    pub policy_number: Option<String>,
}

/// A key in the register.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct KeyRegisterEntry {
    /// The key.
    pub key_id: String,
    /// The service; none for keys of Sealward's own.
    pub service_id: Option<String>,
    /// The name of the service.
    pub service_name: Option<String>,
    /// The name of the key.
    pub name: String,
    /// The number among the keys with this name.
    pub version: Option<u64>,
    /// The use.
    pub r#use: String,
    /// The algorithm.
    pub algorithm: String,
    /// The strength in bits.
    pub strength: u16,
    /// Whether a quantum computer can break the key: `vulnerable` or `resistant`.
    pub quantum_status: String,
    /// The origin.
    pub origin: String,
    /// The state.
    pub status: String,
    /// Whether the tokens have the private or secret key.
    pub has_private: bool,
    /// The tokens that held the key.
    pub tokens: Option<Vec<String>>,
    /// Whether the private or secret key can leave the token.
    pub extractable: Option<bool>,
    /// The thumbprint of the public key.
    pub thumbprint: Option<String>,
    /// The creation time.
    pub created_at: String,
    /// The time of the last activation.
    pub activated_at: Option<String>,
    /// The time of the last use that protected, encrypted or signed.
    pub last_protected_at: Option<String>,
    /// The time of the last use that opened, decrypted or verified.
    pub last_opened_at: Option<String>,
    /// The number of uses in the 30 days that end with the day of the report.
    pub uses_in_30_days: u64,
    /// The time of the expiry.
    pub expires_at: Option<String>,
    /// The days between rotations.
    pub rotation_days: Option<u32>,
    /// The time at which a successor takes over.
    pub rotates_at: Option<String>,
    /// The key that replaces or replaced this one.
    pub successor: Option<String>,
    /// The time of the destruction.
    pub destroy_at: Option<String>,
    /// The policies that use the key.
    pub policies: Vec<KeyRegisterPolicy>,
    /// Who created the key.
    pub created_by: Option<KeyMaker>,
    /// The people who approved it.
    pub approved_by: Vec<String>,
    /// False if the record of the key does not count.
    pub seal_valid: Option<bool>,
}

/// A policy that uses a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct KeyRegisterPolicy {
    /// The number.
    pub policy_number: String,
    /// The state.
    pub status: String,
    /// Whether it was deleted.
    pub deleted: bool,
    /// The algorithm that wraps the content key.
    pub alg: String,
    /// The algorithm that encrypts the content.
    pub enc: String,
    /// The service whose keys protect the payloads.
    pub destination_service_id: String,
    /// The services that may use the policy.
    pub allowed_service_ids: Vec<String>,
}

/// Who created a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct KeyMaker {
    /// The name of the admin key, the person, the command or the job.
    pub actor: String,
    /// The person.
    pub person: Option<String>,
}

request! {
    /// Which keys a report contains.
    ReportFilter {
        ;
        /// The last day whose uses count, such as `2026-11-26`.
        at: String,
        /// The algorithm.
        algorithm: String,
        /// The strength in bits that the keys do not reach.
        strength_below: u16,
        /// The policy that uses the keys.
        policy_number: String,
    }
}

/// Reports for auditors.
#[derive(Clone, Copy, Debug)]
pub struct Reports<'a> {
    client: &'a Client,
}

impl<'a> Reports<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// The register of keys in JSON. [`SignedReport::register`] reads it.
    pub async fn keys(&self, filter: &ReportFilter) -> Result<SignedReport, Error> {
        self.signed(KEYS, filter, "application/json").await
    }

    /// The register of keys in CSV.
    pub async fn keys_csv(&self, filter: &ReportFilter) -> Result<SignedReport, Error> {
        self.signed(KEYS, filter, "text/csv").await
    }

    /// The cryptographic bill of materials (CycloneDX 1.6).
    pub async fn cbom(&self, filter: &ReportFilter) -> Result<SignedReport, Error> {
        self.signed(CBOM, filter, "application/vnd.cyclonedx+json").await
    }

    /// The public keys that have signed reports.
    pub async fn public_keys(&self) -> Result<JwkSet, Error> {
        self.client.answer(Call::get(JWKS.to_owned())).await?.parse()
    }

    async fn signed(
        &self,
        path: &str,
        filter: &ReportFilter,
        media: &'static str,
    ) -> Result<SignedReport, Error> {
        let call = Call::get(path.to_owned()).query(filter)?.accept(media);
        let answer = self.client.answer(call).await?;
        let signature = answer.header(SIGNATURE).ok_or_else(|| answer.unexpected())?.to_owned();
        Ok(SignedReport { body: answer.bytes().to_vec(), signature })
    }
}

impl SignedReport {
    /// The register in the body, which is not verified. None if it is another report.
    pub fn register(&self) -> Option<KeyRegister> {
        serde_json::from_slice(&self.body).ok()
    }
}
