//! The export of the audit log of the runtime API.

use uuid::Uuid;

use super::RecordSource;
use super::format::{Column, Exported, cell};
use crate::audit::entry::{Entry, EntryFilter};
use crate::audit::query::entries;
use crate::db::Pool;
use crate::ids::RecordId;
use formats::clock::Timestamp;

/// The entries that match a filter.
#[derive(Debug)]
pub struct Operations {
    db: Pool,
    now: Timestamp,
    filter: EntryFilter,
}

impl Operations {
    /// The entries of the audit log in this database.
    pub fn new(db: Pool, now: Timestamp, filter: EntryFilter) -> Self {
        Self { db, now, filter }
    }
}

impl RecordSource for Operations {
    type Record = Entry;

    async fn page(&self, older_than: Option<Uuid>, limit: i64) -> sqlx::Result<Vec<Entry>> {
        let older_than = older_than.map(RecordId::from_uuid);
        entries(&self.db, self.now, &self.filter, older_than, limit).await
    }
}

impl Exported for Entry {
    const FILE: &'static str = "audit";
    const CHUNK: u16 = 1_000;
    const COLUMNS: &'static [Column<Self>] = &[
        ("id", |this| this.id.to_string()),
        ("timestamp", |this| this.timestamp.to_string()),
        ("request_id", |this| this.request_id.clone()),
        ("application_id", |this| cell(this.application_id.as_ref())),
        ("operation_type", |this| cell(this.operation_type.as_ref())),
        ("payload_size_bytes", |this| this.payload_size_bytes.to_string()),
        ("response_status", |this| this.response_status.to_string()),
        ("response_time_ms", |this| this.response_time_ms.to_string()),
        ("error_message", |this| cell(this.error_message.as_ref())),
        ("error_code", |this| cell(this.error_code.as_ref())),
        ("endpoint", |this| cell(this.endpoint.as_ref())),
        ("policy_number", |this| cell(this.policy_number.as_ref())),
        ("key_id", |this| cell(this.key_id.as_ref())),
        ("api_key_id", |this| cell(this.api_key_id.as_ref())),
        ("identity_id", |this| cell(this.identity_id.as_ref())),
        ("token_subject", |this| cell(this.token_subject.as_ref())),
        ("client_address", |this| cell(this.client_address.as_ref())),
        ("outcome", |this| cell(Some(&this.outcome))),
        ("ctx", |this| cell(this.ctx.as_ref())),
        ("item", |this| cell(this.item.as_ref())),
        ("log_index", |this| cell(this.log_index.as_ref())),
    ];

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::export::Format;

    #[test]
    fn both_forms_have_the_same_columns_in_the_same_order() {
        let entry = Entry {
            id: RecordId::from_uuid(Uuid::from_u128(1 << 80)),
            timestamp: Timestamp::from_millis(1),
            request_id: "=r,\"1\"".to_owned(),
            application_id: None,
            operation_type: Some("hash".to_owned()),
            payload_size_bytes: 12,
            response_status: 200,
            response_time_ms: 0.25,
            error_message: None,
            error_code: None,
            endpoint: Some("/api/v1/operations".to_owned()),
            policy_number: None,
            key_id: None,
            api_key_id: None,
            identity_id: None,
            token_subject: None,
            client_address: Some("::1".to_owned()),
            outcome: "done".to_owned(),
            ctx: None,
            item: Some(7),
            log_index: Some(9),
            changed: true,
        };
        let mut csv = Vec::new();
        Format::Csv.write(&entry, &mut csv);
        assert_eq!(
            String::from_utf8(csv).unwrap(),
            "rec_00000000010000000000000000,1970-01-01T00:00:00.001Z,\"'=r,\"\"1\"\"\",,hash,12,200,\
             0.25,,,/api/v1/operations,,,,,,::1,done,,7,9\r\n"
        );
        let mut json = Vec::new();
        Format::Ndjson.write(&entry, &mut json);
        let json = String::from_utf8(json).unwrap();
        let place = |(name, _): &Column<Entry>| json.find(&format!("\"{name}\":")).unwrap();
        let places: Vec<usize> = Entry::COLUMNS.iter().map(place).collect();
        assert!(places.is_sorted(), "{json}");
        assert!(json.ends_with("}\n"));
    }
}
