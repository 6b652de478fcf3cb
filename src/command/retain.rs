//! `sealward retain`: retires the old days of the audit log and forgets superseded revisions. Run it daily, from
//! cron, a systemd timer or a Kubernetes CronJob.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use super::{Failure, startup};
use engine::audit::{Retention, Retired, retire_days};
use engine::db;
use engine::seals::forget_superseded;
use engine::settings::Environment;
use formats::clock::Clock;

/// The maximum wait for queries and backups that use the audit log.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let (Some(database), Some(days)) =
        (settings.retain.database(&settings.database), settings.retain.days)
    else {
        return Err(Failure::Missing("retain.url and retain.days must be set"));
    };
    let retention = Retention { days, drop: settings.retain.drop };
    let servers = startup::servers(&database, environment)?;
    let mut connection = db::connection(&servers, &database).await?;
    let mut written = Ok(());
    let report = |retired| {
        let line = match retired {
            Retired::Detached(day) => format!("{day} detached"),
            Retired::Dropped(day) => format!("{day} dropped"),
        };
        let line = writeln!(io::stdout(), "{line}");
        if written.is_ok() {
            written = line;
        }
    };
    let now = Clock::system().now();
    retire_days(&mut connection, now, retention, PATIENCE, report).await?;
    forget_superseded(&mut connection).await.map_err(Failure::Rows)?;
    Ok(written?)
}
