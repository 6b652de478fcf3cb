//! A stored record with the member names of the API, and the filter of a query.

use std::ops::Not;

use serde::Serialize;
use sqlx::FromRow;
use utoipa::{IntoParams, ToSchema};

use super::outcome::Outcome;
use super::record::OperationType;
use crate::ids::{ApiKeyId, IdentityId, KeyId, RecordId, ServiceId};
use crate::segments::Placement;
use formats::clock::Timestamp;

// The migration describes the columns.
/// One record of the audit log.
#[derive(Clone, Debug, FromRow, Serialize, ToSchema)]
#[schema(as = AuditRecord)]
pub struct Entry {
    pub id: RecordId,
    #[sqlx(rename = "ts")]
    pub timestamp: Timestamp,
    pub request_id: String,
    pub application_id: Option<ServiceId>,
    pub operation_type: Option<String>,
    pub payload_size_bytes: i64,
    pub response_status: i16,
    pub response_time_ms: f32,
    pub error_message: Option<String>,
    pub error_code: Option<String>,
    pub endpoint: Option<String>,
    pub policy_number: Option<String>,
    pub key_id: Option<KeyId>,
    pub api_key_id: Option<ApiKeyId>,
    /// The workload identity of the caller; null for API keys.
    pub identity_id: Option<IdentityId>,
    /// The first 256 characters of the subject of the caller's token or of its SPIFFE ID, or the SHA-256 of
    /// its certificate; null for API keys.
    pub token_subject: Option<String>,
    pub client_address: Option<String>,
    /// The outcome of the request.
    pub outcome: String,
    /// The MAC of the context of the envelope.
    pub ctx: Option<String>,
    /// The position of the item in a batch, from 0; null for other requests.
    pub item: Option<i16>,
    /// The position in the log of operations; null until the record is sealed.
    #[sqlx(skip)]
    pub log_index: Option<i64>,
    /// Whether the record is not the one that was sealed. Left out if it is, or is not sealed yet.
    #[sqlx(skip)]
    #[serde(skip_serializing_if = "Not::not")]
    pub changed: bool,
}

impl Entry {
    /// The entry with its position.
    pub(super) fn placed(self, placement: Placement) -> Self {
        match placement {
            Placement::Waiting => self,
            Placement::Sealed(index) => Self { log_index: Some(index), ..self },
            Placement::Changed(index) => Self { log_index: Some(index), changed: true, ..self },
        }
    }
}

/// The entries of a query; `None` matches all.
#[derive(Clone, Debug, Default, IntoParams, Serialize)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub struct EntryFilter {
    /// The request ID of the client.
    pub request_id: Option<String>,
    /// The calling service.
    #[serde(rename = "applicationId")]
    #[param(rename = "applicationId")]
    pub service_id: Option<ServiceId>,
    /// The operation.
    pub operation_type: Option<OperationType>,
    /// The HTTP status of the response.
    #[param(minimum = 100, maximum = 599)]
    pub status: Option<i16>,
    /// The outcome of the request.
    pub outcome: Option<Outcome>,
    /// The policy's number at the time.
    pub policy_number: Option<String>,
    /// The key that the operation used or selected.
    pub key_id: Option<KeyId>,
    /// The workload identity of the caller.
    pub identity_id: Option<IdentityId>,
    /// The subject of the caller's token, its SPIFFE ID, or the SHA-256 of its certificate: the first 256
    /// characters.
    pub token_subject: Option<String>,
    /// Records at or after this time.
    pub from: Option<Timestamp>,
    /// Records before this time.
    pub to: Option<Timestamp>,
}
