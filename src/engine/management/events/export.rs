//! The export of management events.

use serde_json::json;
use uuid::Uuid;

use super::{EventFilter, Recorded, store};
use crate::audit::{Column, Exported, RecordSource, cell};
use crate::db::Pool;

/// The management events that match a filter.
#[derive(Debug)]
pub struct ManagementLog {
    pool: Pool,
    filter: EventFilter,
}

impl ManagementLog {
    /// The management events in this database.
    pub fn new(pool: Pool, filter: EventFilter) -> Self {
        Self { pool, filter }
    }
}

impl RecordSource for ManagementLog {
    type Record = Recorded;

    async fn page(&self, older_than: Option<Uuid>, limit: i64) -> sqlx::Result<Vec<Recorded>> {
        let found = store::list(&self.pool, &self.filter, older_than, limit).await?;
        super::placed(&self.pool, found).await
    }
}

impl Exported for Recorded {
    const FILE: &'static str = "management";
    // An event can have two states of 34 KB each.
    const CHUNK: u16 = 50;
    const COLUMNS: &'static [Column<Self>] = &[
        ("id", |this| this.id.to_string()),
        ("timestamp", |this| this.timestamp.to_string()),
        ("api_key_id", |this| cell(this.api_key_id.as_ref())),
        ("person", |this| cell(this.person.as_ref().map(|person| json!(person)).as_ref())),
        ("actor", |this| this.actor.clone()),
        ("action", |this| this.action.clone()),
        ("resource_type", |this| this.resource_type.clone()),
        ("resource_id", |this| cell(this.resource_id.as_ref())),
        ("before", |this| cell(this.before.as_ref())),
        ("after", |this| cell(this.after.as_ref())),
        ("client_address", |this| cell(this.client_address.as_ref())),
        ("request_id", |this| cell(this.request_id.as_ref())),
        ("change_id", |this| cell(this.change_id.as_ref())),
        ("approved_by", |this| this.approved_by.as_deref().unwrap_or_default().join(", ")),
        ("log_index", |this| cell(this.log_index.as_ref())),
    ];

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }
}
