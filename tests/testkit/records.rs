//! Records of the audit log.

use std::time::Duration;

use engine::audit::{Endpoint, OperationType, Outcome, Record};
use engine::ids::{ApiKeyId, CredentialId, KeyId, ServiceId};
use sqlx::types::Uuid;

/// The expression of an identifier for a record with the time `ts`, in whole milliseconds.
pub const RECORD_ID: &str = "(lpad(to_hex(round(extract(epoch FROM ts) * 1000)::bigint), 12, '0')
     || '70008' || substr(md5(random()::text), 1, 15))::uuid";

/// A statement that inserts this many records of a time, which is an SQL expression.
pub fn insert_records(count: usize, request_id: &str, time: &str) -> String {
    format!(
        "INSERT INTO crypto_operations_audit
             (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
         SELECT {RECORD_ID}, ts, '{request_id}', 0, 200, 1.3, 'done'
           FROM date_trunc('milliseconds', {time}) AS ts, generate_series(1, {count})"
    )
}

/// The record of a request that protected 1 KiB and arrived at this time of the monotonic clock.
pub fn protect_record(arrived: Duration) -> Record {
    let id = Uuid::from_u128(7);
    Record {
        request_id: "req_01h455vb4pex5vsknk084sn02q".into(),
        service_id: Some(ServiceId::from_uuid(id)),
        credential_id: Some(CredentialId::ApiKey(ApiKeyId::from_uuid(id))),
        token_subject: None,
        operation_type: Some(OperationType::Encrypt),
        endpoint: Some(Endpoint::Protect),
        policy_number: Some("POL-000001".into()),
        key_id: Some(KeyId::from_uuid(id)),
        ctx: None,
        payload_size_bytes: 1_024,
        response_status: 200,
        arrived,
        error_code: None,
        outcome: Outcome::Done,
        error_message: None,
        client_address: Some([127, 0, 0, 1].into()),
        item: None,
        sealing: None,
    }
}
