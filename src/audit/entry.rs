//! A record as it is read back, in the names of the interface.

use serde::Serialize;
use sqlx::FromRow;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, KeyId, RecordId, ServiceId};

/// One line of the trail.
#[derive(Clone, Debug, FromRow, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the columns are described in the migration")]
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
    pub client_address: Option<String>,
}
