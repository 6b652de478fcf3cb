//! The numbers that metrics and the dashboard show of the logs.

use super::Sealer;
use crate::ledger::Log;
use crate::ledger::status::LogStatus;
use crate::ledger::store;
use crate::ledger::sweep::AHEAD;

impl Sealer {
    /// The state of each log. The login of the service can write any origin, time and size of a checkpoint, so this
    /// process says which one it has verified, and when it was new; without one, since when it knows none. The same login
    /// can write any answer of a witness, so the instance that seals says what it got.
    pub(super) async fn read_status(&self) -> sqlx::Result<Vec<LogStatus>> {
        let mut connection = self.pool.acquire().await?;
        let mut logs = Vec::new();
        for log in Log::ALL {
            let Some(head) = store::head(&mut *connection, log).await? else {
                continue;
            };
            let stored = store::witnesses(&mut *connection, log).await?;
            let witnesses = self.distributor.witnesses(log, &stored);
            let of_log = self.known.iter().filter(|((known, _), _)| *known == log);
            let known = of_log.map(|(_, known)| known).max_by_key(|known| known.at);
            let waits_since = known.map_or(self.started, |known| known.at);
            let latest = waits_since.plus(AHEAD);
            let unsealed =
                store::count_newer(&mut *connection, log, latest, LogStatus::MOST).await?;
            logs.push(LogStatus {
                log,
                size: head.size,
                unsealed,
                checkpoint_size: known.map_or(0, |known| known.checkpoint.size),
                checkpoint_at: known.map(|known| known.at),
                waits_since,
                witnesses,
            });
        }
        Ok(logs)
    }
}
