//! The records of the logs, as lines of exports.

use std::collections::HashMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::Log;
use super::store::RecordKey;
use crate::audit;
use crate::ids::RecordId;
use crate::management::events;

/// The lines of those of these records that exist.
pub(super) async fn lines(
    connection: &mut PgConnection,
    log: Log,
    keys: &[RecordKey],
) -> sqlx::Result<HashMap<Uuid, String>> {
    // Serializing plain fields to memory does not fail.
    Ok(match log {
        Log::Operations => {
            let names: Vec<_> = keys.iter().map(|key| (key.ts, key.id)).collect();
            let entries = audit::entries_named(connection, &names).await?;
            let line = |it: &audit::Entry| serde_json::to_string(it).unwrap_or_default();
            entries.iter().map(|it| (it.id.uuid(), line(it))).collect()
        }
        Log::Management => {
            let ids: Vec<_> = keys.iter().map(|key| key.id).collect();
            let events = events::named(connection, &ids).await?;
            let line = |it: &events::Recorded| serde_json::to_string(it).unwrap_or_default();
            events.iter().map(|it| (it.id.uuid(), line(it))).collect()
        }
    })
}

/// Whether a record exists, by the time in its identifier.
pub(super) async fn exists(
    connection: &mut PgConnection,
    log: Log,
    id: Uuid,
) -> sqlx::Result<bool> {
    let ts = RecordId::from_uuid(id).created_at();
    let found = lines(connection, log, &[RecordKey { ts, id }]).await?;
    Ok(!found.is_empty())
}
