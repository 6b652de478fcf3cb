//! The records whose days are retired. Only their hashes remain.

use std::collections::HashSet;

use sqlx::PgConnection;

use super::{Log, store};
use formats::clock::Timestamp;

/// The days that the database has retired or may have retired.
#[derive(Debug)]
pub(super) struct RetiredDays {
    kept_from: Timestamp,
    attached: HashSet<Timestamp>,
}

impl RetiredDays {
    pub(super) async fn load(connection: &mut PgConnection) -> sqlx::Result<Self> {
        Ok(Self {
            kept_from: store::kept_from(&mut *connection).await?,
            attached: store::attached_days(connection).await?,
        })
    }

    /// Whether a record of this time can be missing: its whole day is, and is old enough. Management
    /// events are never retired.
    pub(super) fn include(&self, log: Log, ts: Timestamp) -> bool {
        log == Log::Operations && ts < self.kept_from && !self.attached.contains(&ts.start_of_day())
    }
}
