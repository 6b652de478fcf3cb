//! `sealward audit verify`: verifies records against signed checkpoints.

use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::startup;
use engine::db::Pool;
use engine::ledger::verify::{self, NotVerified, Progress, TileFolder, Trust, VerifiedLog};
use engine::ledger::{Log, has_accepted};
use engine::rows::compare;
use engine::settings::Environment;
use formats::tlog::VerifierKey;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true).multiple(true))]
pub(super) struct Arguments {
    /// The public key of the log: NAME+ID+BASE64, or a file with one or more of them.
    #[arg(long, value_name = "KEY")]
    key: String,
    /// A checkpoint that you kept outside of the service. Repeat it for several checkpoints.
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// The key of a witness that must have cosigned each checkpoint: NAME+ID+BASE64, or a file with one
    /// or more of them. Repeat it for several witnesses.
    #[arg(long, value_name = "KEY")]
    witness: Vec<String>,
    /// An export in NDJSON with order=log_index. With --tiles, a changed record is named exactly.
    #[arg(long, value_name = "FILE", group = "source")]
    export: Option<PathBuf>,
    /// A folder with the tiles of the log.
    #[arg(long, value_name = "DIR", group = "source")]
    tiles: Option<PathBuf>,
    /// The database of the settings. Only this source needs a connection.
    #[arg(long, group = "source", conflicts_with_all = ["export", "tiles"])]
    database: bool,
    /// One record as JSON, with --proof.
    #[arg(long, value_name = "FILE", group = "source", requires = "proof",
          conflicts_with_all = ["export", "tiles", "database"])]
    record: Option<PathBuf>,
    /// The proof of the record, as JSON or as a tlog-proof.
    #[arg(long, value_name = "FILE", requires = "record")]
    proof: Option<PathBuf>,
}

/// Verifies, prints the result and returns the exit code.
pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> ExitCode {
    match verify(config, environment, arguments).await {
        Ok((trust, verified)) => {
            let _ = writeln!(io::stdout(), "{}", summary(&trust, &verified));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = writeln!(io::stderr(), "sealward: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

async fn verify(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(Trust, VerifiedLog), NotVerified> {
    let mut trust = Trust::new(&keys(&arguments.key)?)?;
    for witness in &arguments.witness {
        trust.require_witnesses(&keys(witness)?)?;
    }
    for path in &arguments.checkpoint {
        trust.add(&text(path)?)?;
    }
    let mut progress = |records| {
        let _ = writeln!(io::stderr(), "{records} records");
    };
    if let (Some(record), Some(proof)) = (&arguments.record, &arguments.proof) {
        let verified = verify::record(&mut trust, &text(record)?, &text(proof)?)?;
        return Ok((trust, verified));
    }
    let tiles = arguments.tiles.clone().map(TileFolder::new);
    let verified = match (&arguments.export, &tiles) {
        (Some(path), tiles) => {
            let file = File::open(path).map_err(|source| unreadable(path, source))?;
            verify::export(&trust, BufReader::new(file), tiles.as_ref(), &mut progress)?
        }
        (None, Some(tiles)) => verify::tiles(&trust, tiles, &mut progress)?,
        (None, None) => verify_database(&trust, config, environment, &mut progress).await?,
    };
    Ok((trust, verified))
}

/// Verifies a log in the database of the settings, and with that of management events also the rows.
async fn verify_database(
    trust: &Trust,
    config: Option<&Path>,
    environment: &Environment,
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let not_checked = |failure: super::Failure| NotVerified::NotChecked(failure.to_string());
    let settings = startup::prepare_quietly(config, environment).map_err(not_checked)?;
    let database = startup::database(&settings, environment).await;
    let database = database.map_err(not_checked)?;
    let pool = database.pool();
    // Only the row key shows which segments an instance wrote, of those that no checkpoint covers or an operator accepted.
    let token = match trust.log() == Log::Management || has_accepted(pool, trust.log()).await? {
        true => match startup::verifying_token(&settings, environment, &database).await {
            Ok(token) => Some(token),
            Err(failure) => {
                let message = "without the row key, segments that no checkpoint covers are not verified, \
                               and those that `sealward audit init` accepted count";
                let _ = writeln!(io::stderr(), "sealward: {message}: {failure}");
                None
            }
        },
        false => None,
    };
    let verified = verify_all(trust, pool, progress).await;
    if let Some(token) = token {
        token.close().await;
    }
    verified
}

async fn verify_all(
    trust: &Trust,
    pool: &Pool,
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let verified = verify::database(trust, pool, progress).await?;
    if trust.log() == Log::Management {
        check_rows(pool).await?;
    }
    Ok(verified)
}

/// Compares the rows with the log of management events, which was verified.
async fn check_rows(pool: &Pool) -> Result<(), NotVerified> {
    let deviations = compare(pool).await?.unwrap_or_default();
    if deviations.is_empty() { Ok(()) } else { Err(NotVerified::Rows(deviations)) }
}

/// The keys of an argument: a key, or a file with keys.
fn keys(argument: &str) -> Result<String, NotVerified> {
    match argument.parse::<VerifierKey>() {
        Ok(_) => Ok(argument.to_owned()),
        Err(_) => text(Path::new(argument)),
    }
}

fn text(path: &Path) -> Result<String, NotVerified> {
    fs::read_to_string(path).map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> NotVerified {
    NotVerified::File { path: path.to_owned(), source }
}

fn summary(trust: &Trust, verified: &VerifiedLog) -> String {
    let VerifiedLog { covered, retired, newer, unsealed, hashed, foreign } = verified;
    let mut text = format!("OK: {covered} records of {} are unchanged", trust.log());
    if *retired > 0 {
        text.push_str(&format!("; {retired} of them are retired, only their hashes were checked"));
    }
    if *hashed > 0 {
        text.push_str(&format!(
            "; {hashed} of them have only the hash of a state, as collectors receive long records"
        ));
    }
    if *foreign > 0 {
        text.push_str(&format!(
            "; {foreign} of them prove nothing: no instance wrote their segments, which `sealward audit init` accepted"
        ));
    }
    if *newer > 0 {
        text.push_str(&format!("; {newer} later records are in no checkpoint"));
    }
    if *unsealed > 0 {
        text.push_str(&format!(
            "; {unsealed} old records are not sealed yet, because sealing was interrupted"
        ));
    }
    text
}
