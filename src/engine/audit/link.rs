//! The connection of the audit writer to the database.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{ConnectOptions as _, PgConnection};
use tokio::time::timeout;

use super::queue::{RecorderState, Submission};
use super::store::{self, NotWritten};
use crate::db::Pool;

/// How often an idle writer checks that writing would work, and looks at the anonymous count.
pub(super) const HEARTBEAT: Duration = Duration::from_millis(500);

/// The connection to the database.
pub(super) struct Link {
    pub(super) shared: Arc<RecorderState>,
    /// Its connection options name the primary, which changes at a failover.
    database: Pool,
    connection: Option<PgConnection>,
}

impl Link {
    pub(super) fn new(shared: Arc<RecorderState>, database: Pool) -> Self {
        Self { shared, database, connection: None }
    }

    /// Inserts the records of these submissions; with `again`, only those that are missing.
    pub(super) async fn insert(
        &mut self,
        submissions: &[Submission],
        again: bool,
    ) -> Result<(), NotWritten> {
        let deadline = self.shared.deadline;
        let connection = self.connected().await?;
        let written = timeout(deadline, async {
            match store::insert(connection, submissions, again).await {
                Err(NotWritten::NoDay) => {
                    let records = submissions.iter().flat_map(Submission::records);
                    store::make_days(connection, records.map(|queued| queued.ts)).await?;
                    store::insert(connection, submissions, again).await
                }
                outcome => outcome,
            }
        });
        written.await.unwrap_or_else(|_| Err(store::late()))
    }

    /// Checks that a record could be written now, and keeps the connection alive. A check that takes
    /// longer than a heartbeat counts as a failure until it completes, within the deadline of a
    /// record.
    pub(super) async fn check(&mut self) {
        let shared = Arc::clone(&self.shared);
        let outcome = {
            let asking = async { store::writable(self.connected().await?).await };
            let mut asking = pin!(timeout(shared.deadline, asking));
            match timeout(HEARTBEAT, &mut asking).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    shared.fails(&store::late());
                    asking.await
                }
            }
        };
        match outcome.unwrap_or_else(|_| Err(store::late())) {
            Ok(()) | Err(NotWritten::NoDay | NotWritten::Data(_)) => {
                shared.availability.succeeds(shared.clock.monotonic());
            }
            Err(failure @ NotWritten::Away(_)) => self.fails(&failure),
        }
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, NotWritten> {
        if self.connection.is_none() {
            let options = self.database.connect_options();
            let connecting = timeout(self.shared.deadline, options.connect());
            let connection = connecting.await.map_err(|_| store::late())?;
            self.connection = Some(connection.map_err(NotWritten::Away)?);
        }
        self.connection.as_mut().ok_or_else(store::late)
    }

    /// Notes a failure, after which the state of the connection is unknown.
    pub(super) fn fails(&mut self, failure: &NotWritten) {
        self.close();
        self.shared.fails(failure);
    }

    /// Drops the connection.
    pub(super) fn close(&mut self) {
        self.connection = None;
    }
}

impl RecorderState {
    /// Keeps since when records cannot be committed, and logs it once.
    fn fails(&self, error: &NotWritten) {
        let now = self.clock.monotonic();
        if self.availability.failing_for(now).is_zero() {
            tracing::warn!(%error, "audit records cannot be committed; retrying");
        }
        self.availability.fails(now);
    }
}
