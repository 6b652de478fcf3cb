//! The leaf of a queued record, as the export shows the record once it is stored.
//!
//! [`leaf`](crate::segments::leaf) makes the same bytes of the line of an export. Here they come directly from the
//! fields, because each request waits for them.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::queue::QueuedRecord;
use crate::ids::{ApiKeyId, IdentityId, KeyId, RecordId, ServiceId};
use crate::segments::{Log, kind};
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// The members in the order of RFC 8785.
#[derive(Serialize)]
struct RecordLeaf<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_id: Option<ApiKeyId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    application_id: Option<ServiceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctx: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'r str>,
    id: RecordId,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_id: Option<IdentityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<i16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<KeyId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_type: Option<&'r str>,
    outcome: &'r str,
    payload_size_bytes: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_number: Option<&'r str>,
    request_id: &'r str,
    response_status: i16,
    response_time_ms: f32,
    timestamp: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_subject: Option<&'r str>,
    r#type: &'r str,
    v: u8,
}

/// The hash of the leaf of a record. `text` is a buffer for the leaf.
pub(super) fn hash(queued: &QueuedRecord, text: &mut Vec<u8>) -> Hash {
    text.clear();
    let record = &queued.record;
    let leaf = RecordLeaf {
        api_key_id: record.credential_id.and_then(|id| id.api_key()),
        application_id: record.service_id,
        client_address: record.client_address.map(as_in_postgres),
        ctx: record.ctx.map(|ctx| ctx.to_string()),
        endpoint: record.endpoint.map(|endpoint| endpoint.name()),
        error_code: record.error_code,
        error_message: record.error_message.as_deref(),
        id: queued.id,
        identity_id: record.credential_id.and_then(|id| id.identity()),
        item: queued.item(),
        key_id: record.key_id,
        operation_type: record.operation_type.map(|operation| operation.name()),
        outcome: record.outcome.name(),
        payload_size_bytes: queued.payload_size(),
        policy_number: record.policy_number.as_deref(),
        request_id: &record.request_id,
        response_status: queued.status(),
        response_time_ms: queued.milliseconds(),
        timestamp: queued.ts,
        token_subject: record.token_subject.as_deref(),
        r#type: kind(Log::Operations),
        v: 1,
    };
    // Serializing plain fields to memory does not fail.
    let _ = leaf.serialize(&mut Serializer::with_formatter(&mut *text, CanonicalNumbers));
    Hash::of_leaf(text)
}

/// The text that Postgres returns of an address: in `::/96`, it writes the last four bytes as an IPv4 address.
fn as_in_postgres(address: IpAddr) -> String {
    match address {
        IpAddr::V6(v6) if matches!(v6.segments(), [0, 0, 0, 0, 0, 0, high, _] if high > 0) => {
            let [.., a, b, c, d] = v6.octets();
            format!("::{}", Ipv4Addr::new(a, b, c, d))
        }
        IpAddr::V4(_) | IpAddr::V6(_) => address.to_string(),
    }
}

/// Writes numbers as RFC 8785 says. Its strings are those of `serde_json`.
struct CanonicalNumbers;

impl Formatter for CanonicalNumbers {
    /// All numbers are doubles.
    fn write_i64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        write_double(writer, &value.to_string())
    }

    /// The double of its text in an export. Of two shortest texts, another formatter can choose the other one.
    fn write_f32<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        let mut text = Vec::with_capacity(16);
        CompactFormatter.write_f32(&mut text, value)?;
        write_double(writer, str::from_utf8(&text).map_err(io::Error::other)?)
    }
}

fn write_double<W: ?Sized + io::Write>(writer: &mut W, text: &str) -> io::Result<()> {
    let number: f64 = text.parse().map_err(io::Error::other)?;
    writer.write_all(ryu_js::Buffer::new().format(number).as_bytes())
}
