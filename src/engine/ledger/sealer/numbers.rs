//! The numbers that metrics and the dashboard show of the logs.

use crate::db::Pool;
use crate::ledger::Log;
use crate::ledger::distributor::Distributor;
use crate::ledger::status::{LogStatus, WitnessStatus};
use crate::ledger::store;

/// The state of each log.
pub(super) async fn read_status(
    pool: &Pool,
    distributor: &Distributor,
) -> sqlx::Result<Vec<LogStatus>> {
    let mut connection = pool.acquire().await?;
    let mut logs = Vec::new();
    for log in Log::ALL {
        let Some(head) = store::head(&mut *connection, log).await? else {
            continue;
        };
        let mut known = store::witnesses(&mut *connection, log).await?;
        let witnesses = distributor.names().map(|name| {
            let found = known.iter().position(|it| it.name == name);
            found.map_or_else(|| WitnessStatus::unknown(name), |at| known.swap_remove(at))
        });
        let witnesses = witnesses.collect();
        let unsealed = store::count_newer(&mut *connection, log, LogStatus::MOST).await?;
        logs.push(LogStatus {
            log,
            size: head.size,
            unsealed,
            checkpoint_size: head.signed.as_ref().map_or(0, |signed| signed.size),
            checkpoint_at: head.signed.map(|signed| signed.at),
            witnesses,
        });
    }
    Ok(logs)
}
