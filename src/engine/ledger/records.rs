//! The records of the logs.

use std::collections::HashMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::Log;
use super::store::RecordKey;
use crate::audit;
use crate::management::events;
use crate::segments::hash_of;
use formats::tlog::Hash;

/// A record of a log.
#[derive(Clone, Debug)]
pub(super) enum LogRecord {
    Operation(audit::Entry),
    Event(events::Recorded),
}

impl LogRecord {
    /// The line of an export, with this position.
    pub(super) fn line(&self, index: Option<u64>) -> String {
        let log_index = index.and_then(|index| i64::try_from(index).ok());
        // Serializing plain fields to memory does not fail.
        match self {
            Self::Operation(entry) => {
                let entry = audit::Entry { log_index, ..entry.clone() };
                serde_json::to_string(&entry).unwrap_or_default()
            }
            Self::Event(event) => {
                let event = events::Recorded { log_index, ..event.clone() };
                serde_json::to_string(&event).unwrap_or_default()
            }
        }
    }

    /// Whether this release can make its leaf: a later one adds types of resources.
    pub(super) fn is_of_known_type(&self) -> bool {
        match self {
            Self::Operation(_) => true,
            Self::Event(event) => event.resource_type().is_some(),
        }
    }

    /// The hash of its leaf; none if it has none.
    pub(super) fn hash(&self) -> Option<Hash> {
        match self {
            Self::Operation(entry) => hash_of(Log::Operations, entry),
            Self::Event(event) => hash_of(Log::Management, event),
        }
    }
}

/// Those of these records that exist.
pub(super) async fn read(
    connection: &mut PgConnection,
    log: Log,
    keys: &[RecordKey],
) -> sqlx::Result<HashMap<Uuid, LogRecord>> {
    Ok(match log {
        Log::Operations => {
            let names: Vec<_> = keys.iter().map(|key| (key.ts, key.id)).collect();
            let entries = audit::entries_named(connection, &names).await?.into_iter();
            entries.map(|it| (it.id.uuid(), LogRecord::Operation(it))).collect()
        }
        Log::Management => {
            let ids: Vec<_> = keys.iter().map(|key| key.id).collect();
            let events = events::named(connection, &ids).await?.into_iter();
            events.map(|it| (it.row.id.uuid(), LogRecord::Event(it.row))).collect()
        }
    })
}
