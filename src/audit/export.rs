//! Exports of the audit log, in constant memory.
//!
//! It reads and writes page by page, so that a slow client holds neither a transaction nor a
//! connection.

use futures_util::stream::{Stream, try_unfold};
use serde::Serialize as _;
use sqlx::PgPool;

use super::entry::{Entry, Filter};
use super::query::entries;
use crate::clock::Timestamp;
use crate::ids::RecordId;

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header line, then one line per entry (RFC 4180). An apostrophe precedes text that
    /// spreadsheets would evaluate as a formula; the other format is exact.
    Csv,
    /// One JSON object per line.
    Ndjson,
}

/// The number of entries per query and chunk.
const CHUNK: u16 = 1_000;

/// An export in progress.
#[derive(Debug)]
pub struct Export {
    db: PgPool,
    now: Timestamp,
    filter: Filter,
    format: Format,
    at: Place,
}

#[derive(Debug)]
enum Place {
    Start,
    After(RecordId),
    End,
}

impl Export {
    /// An export of all entries that match the filter.
    #[must_use]
    pub fn new(db: PgPool, now: Timestamp, filter: Filter, format: Format) -> Self {
        Self {
            db,
            now,
            filter,
            format,
            at: Place::Start,
        }
    }

    /// The chunks of the file. If the database fails, the last item is an error, and the response
    /// must abort so that the file is not mistaken for a complete one.
    pub fn pieces(self) -> impl Stream<Item = Result<Vec<u8>, sqlx::Error>> + Send + 'static {
        try_unfold(self, async |mut export| {
            let piece = export.next().await.inspect_err(|error| {
                tracing::error!(%error, "an export of the audit log failed");
            })?;
            Ok(piece.map(|piece| (piece, export)))
        })
    }

    /// The next chunk; none when the file is complete.
    ///
    /// # Errors
    /// The database failed, so the file is incomplete.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, sqlx::Error> {
        let (older_than, mut chunk) = match self.at {
            Place::Start => (None, self.format.head()),
            Place::After(id) => (Some(id), Vec::new()),
            Place::End => return Ok(None),
        };
        let limit = i64::from(CHUNK);
        let entries = entries(&self.db, self.now, &self.filter, older_than, limit).await?;
        for entry in &entries {
            self.format.write(entry, &mut chunk);
        }
        self.at = match entries.last() {
            Some(last) if entries.len() == usize::from(CHUNK) => Place::After(last.id),
            _ => Place::End,
        };
        Ok(Some(chunk))
    }
}

impl Format {
    /// The media type of the file.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Ndjson => "application/x-ndjson",
        }
    }

    /// The disposition: a download with a file name.
    #[must_use]
    pub const fn disposition(self) -> &'static str {
        match self {
            Self::Csv => "attachment; filename=\"audit.csv\"",
            Self::Ndjson => "attachment; filename=\"audit.ndjson\"",
        }
    }

    fn head(self) -> Vec<u8> {
        match self {
            Self::Csv => [COLUMNS.join(",").as_bytes(), b"\r\n"].concat(),
            Self::Ndjson => Vec::new(),
        }
    }

    fn write(self, entry: &Entry, chunk: &mut Vec<u8>) {
        match self {
            Self::Csv => write_csv(entry, chunk),
            Self::Ndjson => {
                // Serializing plain fields to memory does not fail.
                let _ = entry.serialize(&mut serde_json::Serializer::new(&mut *chunk));
                chunk.push(b'\n');
            }
        }
    }
}

const COLUMNS: [&str; 18] = [
    "id",
    "timestamp",
    "request_id",
    "application_id",
    "operation_type",
    "payload_size_bytes",
    "response_status",
    "response_time_ms",
    "error_message",
    "error_code",
    "endpoint",
    "policy_number",
    "key_id",
    "api_key_id",
    "client_address",
    "outcome",
    "ctx",
    "item",
];

fn write_csv(entry: &Entry, chunk: &mut Vec<u8>) {
    fn text(value: Option<&impl ToString>) -> String {
        value.map(ToString::to_string).unwrap_or_default()
    }
    let cells: [String; COLUMNS.len()] = [
        entry.id.to_string(),
        entry.timestamp.to_string(),
        entry.request_id.clone(),
        text(entry.application_id.as_ref()),
        text(entry.operation_type.as_ref()),
        entry.payload_size_bytes.to_string(),
        entry.response_status.to_string(),
        entry.response_time_ms.to_string(),
        text(entry.error_message.as_ref()),
        text(entry.error_code.as_ref()),
        text(entry.endpoint.as_ref()),
        text(entry.policy_number.as_ref()),
        text(entry.key_id.as_ref()),
        text(entry.api_key_id.as_ref()),
        text(entry.client_address.as_ref()),
        text(entry.outcome.as_ref()),
        text(entry.ctx.as_ref()),
        text(entry.item.as_ref()),
    ];
    for (place, cell) in cells.iter().enumerate() {
        if place > 0 {
            chunk.push(b',');
        }
        write_cell(cell, chunk);
    }
    chunk.extend_from_slice(b"\r\n");
}

fn write_cell(cell: &str, chunk: &mut Vec<u8>) {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !formula && !cell.contains([',', '"', '\r', '\n']) {
        chunk.extend_from_slice(cell.as_bytes());
        return;
    }
    chunk.push(b'"');
    if formula {
        chunk.push(b'\'');
    }
    chunk.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
    chunk.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_if_necessary_and_never_formulas() {
        let written = |cell| {
            let mut chunk = Vec::new();
            write_cell(cell, &mut chunk);
            String::from_utf8(chunk).unwrap()
        };
        assert_eq!(written("plain text"), "plain text");
        assert_eq!(written("a,b"), "\"a,b\"");
        assert_eq!(written("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(written("=1+1"), "\"'=1+1\"");
        assert_eq!(written("@SUM(A1)"), "\"'@SUM(A1)\"");
        assert_eq!(written("2001:db8::1"), "2001:db8::1");
    }

    #[test]
    fn both_forms_have_the_same_columns_in_the_same_order() {
        let entry = Entry {
            id: RecordId::from_uuid(uuid::Uuid::from_u128(1 << 80)),
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
            client_address: Some("::1".to_owned()),
            outcome: Some("done".to_owned()),
            ctx: None,
            item: Some(7),
        };
        let mut csv = Vec::new();
        Format::Csv.write(&entry, &mut csv);
        assert_eq!(
            String::from_utf8(csv).unwrap(),
            "rec_00000000010000000000000000,1970-01-01T00:00:00.001Z,\"'=r,\"\"1\"\"\",,hash,12,200,\
             0.25,,,/api/v1/operations,,,,::1,done,,7\r\n"
        );
        let mut json = Vec::new();
        Format::Ndjson.write(&entry, &mut json);
        let json = String::from_utf8(json).unwrap();
        let places = COLUMNS.map(|name| json.find(&format!("\"{name}\":")).unwrap());
        assert!(places.is_sorted(), "{json}");
        assert!(json.ends_with("}\n"));
    }
}
