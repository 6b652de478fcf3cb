//! The export of management events.

use uuid::Uuid;

use super::{Filter, Recorded, store};
use crate::audit::{Exported, Source, cell};
use crate::db::Pool;

/// The management events that match a filter.
#[derive(Debug)]
pub struct ManagementLog {
    pool: Pool,
    filter: Filter,
}

impl ManagementLog {
    /// The management events in this database.
    #[must_use]
    pub fn new(pool: Pool, filter: Filter) -> Self {
        Self { pool, filter }
    }
}

impl Source for ManagementLog {
    type Record = Recorded;

    async fn page(&self, older_than: Option<Uuid>, limit: i64) -> sqlx::Result<Vec<Recorded>> {
        store::list(&self.pool, &self.filter, older_than, limit).await
    }
}

impl Exported for Recorded {
    const FILE: &'static str = "management";
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "timestamp",
        "api_key_id",
        "actor",
        "action",
        "resource_type",
        "resource_id",
        "before",
        "after",
        "client_address",
        "request_id",
        "log_index",
    ];

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.timestamp.to_string(),
            cell(self.api_key_id.as_ref()),
            self.actor.clone(),
            self.action.name().to_owned(),
            self.resource_type.name().to_owned(),
            cell(self.resource_id.as_ref()),
            cell(self.before.as_ref()),
            cell(self.after.as_ref()),
            cell(self.client_address.as_ref()),
            cell(self.request_id.as_ref()),
            cell(self.log_index.as_ref()),
        ]
    }
}
