//! The audit logs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::request;
use super::{Export, Pager};
use crate::Client;
use crate::error::Error;
use crate::open_set::open_set;
use crate::transport::{Call, segment};

const OPERATIONS: &str = "/admin/audit";
const MANAGEMENT: &str = "/admin/audit/management";
const NDJSON: &str = "application/x-ndjson";

open_set! {
    /// The tamper-evident logs.
    AuditLog {
        Operations = "operations",
        Management = "management",
    }
}

/// The record of an operation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AuditRecord {
    /// The ID.
    pub id: String,
    /// The time.
    pub timestamp: String,
    /// The ID of the request.
    pub request_id: String,
    /// The service that called.
    pub application_id: Option<String>,
    /// The operation.
    pub operation_type: Option<String>,
    /// The bytes of the payload.
    pub payload_size_bytes: u64,
    /// The HTTP status.
    pub response_status: u16,
    /// The time of processing.
    pub response_time_ms: f32,
    /// Why the request failed.
    pub error_message: Option<String>,
    /// The code of the error.
    pub error_code: Option<String>,
    /// The path.
    pub endpoint: Option<String>,
    /// The policy.
    pub policy_number: Option<String>,
    /// The key.
    pub key_id: Option<String>,
    /// The API key.
    pub api_key_id: Option<String>,
    /// The workload identity.
    pub identity_id: Option<String>,
    /// The subject of the token.
    pub token_subject: Option<String>,
    /// The address of the client.
    pub client_address: Option<String>,
    /// `done`, `passed_through`, `dropped`, `failed` or `refused`.
    pub outcome: String,
    /// The MAC of the context.
    pub ctx: Option<String>,
    /// The position in a batch.
    pub item: Option<u32>,
    /// The position in the tamper-evident log.
    pub log_index: Option<u64>,
    /// Whether the record is not the one that was sealed.
    pub changed: bool,
}

/// An event of the management log.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ManagementEvent {
    /// The ID.
    pub id: String,
    /// The time.
    pub timestamp: String,
    /// The admin key.
    pub api_key_id: Option<String>,
    /// The person.
    pub person: Option<EventPerson>,
    /// Who acted.
    pub actor: String,
    /// What happened.
    pub action: String,
    /// The type of the resource.
    pub resource_type: String,
    /// The resource.
    pub resource_id: Option<String>,
    /// The state before.
    pub before: Option<Value>,
    /// The state after.
    pub after: Option<Value>,
    /// The address of the client.
    pub client_address: Option<String>,
    /// The ID of the request.
    pub request_id: Option<String>,
    /// The change that was approved.
    pub change_id: Option<String>,
    /// Who approved it.
    pub approved_by: Option<Vec<String>>,
    /// The position in the tamper-evident log.
    pub log_index: Option<u64>,
    /// Whether the event is not the one that was sealed.
    pub changed: bool,
}

/// A person in an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct EventPerson {
    /// The issuer.
    pub iss: String,
    /// The subject.
    pub sub: String,
}

/// The proof that a record is in its log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditProof {
    /// The log.
    pub log: AuditLog,
    /// The position in the log.
    pub log_index: u64,
    /// The entry.
    pub leaf: String,
    /// The hashes to the root, base64-encoded.
    pub inclusion: Vec<String>,
    /// The signed checkpoint.
    pub checkpoint: String,
}

request! {
    /// Which records a list or an export contains.
    AuditFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The ID of the request.
        request_id: String,
        /// The service that called.
        application_id: String,
        /// The operation.
        operation_type: String,
        /// The HTTP status.
        status: u16,
        /// The outcome.
        outcome: String,
        /// The policy.
        policy_number: String,
        /// The key.
        key_id: String,
        /// The workload identity.
        identity_id: String,
        /// The subject of the token.
        token_subject: String,
        /// The earliest time.
        from: String,
        /// The time before which they are.
        to: String,
        /// `log_index` exports the records of the tamper-evident log in its order.
        order: String,
    }
}

request! {
    /// Which events a list or an export contains.
    ManagementFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The ID of the request.
        request_id: String,
        /// The admin key.
        api_key_id: String,
        /// What happened.
        action: String,
        /// The type of the resource.
        resource_type: String,
        /// The resource.
        resource_id: String,
        /// The earliest time.
        from: String,
        /// The time before which they are.
        to: String,
        /// `log_index` exports the events of the tamper-evident log in its order.
        order: String,
    }
}

/// The audit logs.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'a> {
    client: &'a Client,
}

impl<'a> Audit<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// The records of operations, newest first.
    pub fn list(&self, filter: &AuditFilter) -> Pager<'a, AuditRecord> {
        Pager::new(self.client, OPERATIONS, filter)
    }

    /// The events of administrators, newest first.
    pub fn list_events(&self, filter: &ManagementFilter) -> Pager<'a, ManagementEvent> {
        Pager::new(self.client, MANAGEMENT, filter)
    }

    /// Exports the records of operations.
    pub async fn export(&self, filter: &AuditFilter) -> Result<Export<AuditRecord>, Error> {
        self.stream(OPERATIONS, filter).await
    }

    /// Exports the events of administrators.
    pub async fn export_events(
        &self,
        filter: &ManagementFilter,
    ) -> Result<Export<ManagementEvent>, Error> {
        self.stream(MANAGEMENT, filter).await
    }

    /// The proof that a record or an event is in its log.
    pub async fn proof(&self, id: &str) -> Result<AuditProof, Error> {
        let path = format!("{OPERATIONS}/{}/proof", segment(id));
        self.client.answer(Call::get(path)).await?.parse()
    }

    /// The signed checkpoint of a log.
    pub async fn checkpoint(&self, log: &AuditLog) -> Result<String, Error> {
        self.text(log, "checkpoint").await
    }

    /// The public key that signs the checkpoints of a log.
    pub async fn log_key(&self, log: &AuditLog) -> Result<String, Error> {
        self.text(log, "key").await
    }

    /// A tile of a log, such as `0/000` or `entries/000`.
    pub async fn tile(&self, log: &AuditLog, path: &str) -> Result<Vec<u8>, Error> {
        let path = path.split('/').map(segment).collect::<Vec<_>>().join("/");
        let call = Call::get(format!("{}/tile/{path}", log_path(log)));
        let answer = self.client.answer(call.accept("application/octet-stream")).await?;
        Ok(answer.bytes().to_vec())
    }

    async fn text(&self, log: &AuditLog, name: &str) -> Result<String, Error> {
        let call = Call::get(format!("{}/{name}", log_path(log))).accept("text/plain");
        self.client.answer(call).await?.text().map(ToOwned::to_owned)
    }

    async fn stream<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        filter: &impl Serialize,
    ) -> Result<Export<T>, Error> {
        let call = Call::get(path).query(filter)?.accept(NDJSON);
        let transport = self.client.transport();
        let response = transport.stream(&call, self.client.overrides()).await?;
        Ok(Export::new(transport.address(), response))
    }
}

fn log_path(log: &AuditLog) -> String {
    format!("{OPERATIONS}/log/{}", segment(log.as_str()))
}
