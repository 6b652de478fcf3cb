//! `sealward drill`: restores a dump into a database that it drops, and verifies what was restored.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hsm::Token;
use tokio::task::spawn_blocking;

use super::key::invalid;
use super::report::write_signed;
use super::{Failure, startup};
use engine::db::{self, Pool};
use engine::drill::{DrillReport, Dump, Restoration, ScratchDatabase, examine, metric};
use engine::keys::Vault;
use engine::reports::Report;
use engine::settings::{Database, Environment, SealAnchor, Settings};
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The dump, a file of `pg_dump --format=custom`.
    #[arg(long, value_name = "FILE")]
    dump: PathBuf,
    /// A Postgres server for the drill, as the URL postgres://user@host:port/name of a database to which its login
    /// connects. The login needs CREATEDB and must have no other right. Its password comes from PGPASSWORD or the password file.
    #[arg(long, value_name = "URL")]
    scratch: String,
    /// The report. Its signature has the same name with .jws appended.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// A copy of the file of audit.seal.anchor. Default: the file itself.
    #[arg(long, value_name = "FILE")]
    anchor: Option<PathBuf>,
    /// A file for the textfile collector of the node exporter, which gets the time of the last success.
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let anchor = anchor(&settings, arguments.anchor.clone())?;
    let server = settings.database.elsewhere("--scratch", &arguments.scratch);
    let server = server.map_err(|error| Failure::Other(format!("--scratch {error}")))?;
    // The database of the service remembers refused PINs, and has the hashes from the dump to the anchor.
    let service = startup::database(&settings, environment).await?;
    let token = startup::verifying_token(&settings, environment, &service).await?;
    let drilled = drill(arguments, (service.pool(), &anchor), &token, server).await;
    token.close().await;
    let (report, problems) = drilled?;
    write_signed(&arguments.output, &report.body, &report.signature)?;
    if !problems.is_empty() {
        return Err(Failure::Other(format!("the drill failed:\n  {}", problems.join("\n  "))));
    }
    if let Some(path) = &arguments.metrics {
        replace(path, &metric(Clock::system().now())).map_err(|error| invalid(path, error))?;
    }
    writeln!(io::stdout(), "the drill succeeded")?;
    Ok(())
}

/// The file with the latest checkpoints.
fn anchor(settings: &Settings, given: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let configured = match &settings.audit.seal.anchor {
        Some(SealAnchor::File(path)) => Some(path.clone()),
        Some(SealAnchor::Witness(_)) | None => None,
    };
    given.or(configured).ok_or(Failure::Missing(
        "audit.seal.anchor must be a file, or --anchor must name a file with checkpoints",
    ))
}

/// Returns the report, and what is wrong.
async fn drill(
    arguments: &Arguments,
    service: (&Pool, &Path),
    token: &Token,
    server: Database,
) -> Result<(Report, Vec<String>), Failure> {
    let scratch = ScratchDatabase::create(server, &Entropy::system()).await?;
    let drilled = drill_in(&scratch, arguments, service, token).await;
    // What went wrong first is more important.
    match (drilled, scratch.remove().await) {
        (Ok(_), Err(error)) => Err(error.into()),
        (drilled, _) => drilled,
    }
}

async fn drill_in(
    scratch: &ScratchDatabase,
    arguments: &Arguments,
    (service, anchor): (&Pool, &Path),
    token: &Token,
) -> Result<(Report, Vec<String>), Failure> {
    let clock = Clock::system();
    let started_at = clock.now();
    let dump = restore(scratch, &arguments.dump).await?;
    let restored_at = clock.now();

    let restored = scratch.connect(service).await?;
    let pool = restored.pool();
    db::check_schema(pool).await?;
    pool.seals().open(token).await?;
    let vault = Vault::new(token.clone(), pool.clone(), clock.clone(), Entropy::system());
    let examined = examine(pool, service, anchor, (&vault, &clock)).await;
    let examined = examined.map_err(Failure::Rows)?;
    let problems = examined.problems();
    let restoration = Restoration { dump, started_at, restored_at };
    let report = DrillReport::new(restoration, examined, clock.now());
    let report = report.sign(pool, token).await;
    let report = report.map_err(|error| Failure::Other(error.to_string()))?;
    pool.current().close().await;
    Ok((report, problems))
}

/// Runs `pg_restore`. Owners and privileges would need the roles of the service. The program gets the bytes that are
/// hashed: somebody could exchange the file meanwhile.
async fn restore(scratch: &ScratchDatabase, dump: &Path) -> Result<Dump, Failure> {
    let mut program = Command::new("pg_restore");
    program.args(["--exit-on-error", "--no-owner", "--no-privileges", "--dbname"]);
    program.arg(scratch.url()).envs(scratch.variables()).stdin(Stdio::piped());
    let path = dump.to_owned();
    let work = move || {
        let not_run = |error| Failure::Other(format!("cannot run pg_restore: {error}"));
        let mut running = program.spawn().map_err(not_run)?;
        let copied = running.stdin.take().map(|mut input| Dump::copy(&path, &mut input));
        let ended = running.wait().map_err(not_run)?;
        if !ended.success() {
            return Err(Failure::Other(format!("pg_restore failed: {ended}")));
        }
        let copied = copied.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()));
        copied.map_err(|error| invalid(&path, error))
    };
    let restored = spawn_blocking(work).await;
    restored.unwrap_or_else(|stopped| Err(Failure::Other(stopped.to_string())))
}

/// Replaces a file at once, so that the collector never reads a part of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_added_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, path)
}
