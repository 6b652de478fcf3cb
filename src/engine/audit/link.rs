//! The connection of the audit writer to the database.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{ConnectOptions as _, PgConnection};
use tokio::time::timeout;

use super::queue::{RecorderState, Submission};
use super::store::{self, NotWritten};
use crate::db::Pool;
use crate::seals::RowKey;

/// How often an idle writer checks that writing would work, and looks at the anonymous count.
pub(super) const HEARTBEAT: Duration = Duration::from_millis(500);

/// How many deadlines of a record an attempt may take at most, after others that were late.
const MOST_PATIENCE: u32 = 4;

/// The connection to the database.
pub(super) struct Link {
    pub(super) shared: Arc<RecorderState>,
    /// Its connection options name the primary, which changes at a failover.
    database: Pool,
    connection: Option<PgConnection>,
    /// How many deadlines of a record an attempt may take. It doubles while attempts are late: on a slow
    /// network, a new connection and a batch of unknown outcome have too many round trips for one deadline.
    patience: u32,
}

impl Link {
    pub(super) fn new(shared: Arc<RecorderState>, database: Pool) -> Self {
        Self { shared, database, connection: None, patience: 1 }
    }

    /// Inserts the records of these submissions; with `again`, only those that are missing.
    pub(super) async fn insert(
        &mut self,
        submissions: &[Submission],
        again: bool,
    ) -> Result<(), NotWritten> {
        let limit = self.limit();
        let seals = self.database.seals().clone();
        let key = seals.current();
        let key = key.as_deref();
        let connection = self.connected().await?;
        let written = timeout(limit, async {
            match insert(connection, submissions, key, again).await {
                Err(NotWritten::NoDay) => {
                    let records = submissions.iter().flat_map(Submission::records);
                    store::make_days(connection, records.map(|queued| queued.ts)).await?;
                    insert(connection, submissions, key, again).await
                }
                outcome => outcome,
            }
        });
        let Ok(written) = written.await else {
            return Err(self.late());
        };
        let is_current = written?;
        self.patience = 1;
        if !is_current {
            let seals = seals.clone();
            tokio::spawn(async move { seals.refresh().await });
        }
        Ok(())
    }

    /// Checks that a record could be written now, and keeps the connection alive. A check that takes
    /// longer than a heartbeat counts as a failure until it completes, within the deadline of a
    /// record.
    pub(super) async fn check(&mut self) {
        let shared = Arc::clone(&self.shared);
        let limit = self.limit();
        let outcome = {
            let asking = async { store::writable(self.connected().await?).await };
            let mut asking = pin!(timeout(limit, asking));
            match timeout(HEARTBEAT, &mut asking).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    shared.fails(&store::late());
                    asking.await
                }
            }
        };
        match outcome.unwrap_or_else(|_| Err(self.late())) {
            Ok(()) | Err(NotWritten::NoDay | NotWritten::Data(_)) => {
                shared.availability.succeeds(shared.clock.monotonic());
            }
            Err(failure @ NotWritten::Away(_)) => self.fails(&failure),
        }
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, NotWritten> {
        if self.connection.is_none() {
            let options = self.database.connect_options();
            let connecting = timeout(self.limit(), options.connect());
            let connection = connecting.await.map_err(|_| self.late())?;
            self.connection = Some(connection.map_err(NotWritten::Away)?);
        }
        self.connection.as_mut().ok_or_else(store::late)
    }

    fn limit(&self) -> Duration {
        self.shared.deadline * self.patience
    }

    /// The failure of an attempt that took too long. The next one may take longer.
    fn late(&mut self) -> NotWritten {
        self.patience = MOST_PATIENCE.min(self.patience * 2);
        store::late()
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

/// Returns whether the row key still seals.
async fn insert(
    connection: &mut PgConnection,
    submissions: &[Submission],
    key: Option<&RowKey>,
    again: bool,
) -> Result<bool, NotWritten> {
    match again {
        false => store::insert(connection, submissions, key).await,
        true => store::insert_again(connection, submissions, key).await,
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
