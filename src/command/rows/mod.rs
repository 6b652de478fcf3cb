//! `sealward rows`: the seals of the rows of the database.

mod reseal;

use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::db;
use engine::ledger::take_back;
use engine::rows::{Renewed, new_key};
use engine::segments::remove_forged;
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Seal the rows that do not count or deviate, as they are, with the login in the section migrate.
    ///
    /// Use it after changes with SQL, a restored backup or a lost token. Prints the rows, how they differ from
    /// their last events, and whether they are as they were last sealed, and asks first: their values count from
    /// then on. Also prints rows that are missing.
    Reseal(reseal::ResealOptions),
    /// Make another row key in the tokens, and seal all rows and segments under it, with the login in the section
    /// migrate.
    ///
    /// Running instances continue. The former key is destroyed at the end. After an interruption, run the
    /// command again.
    NewKey,
    /// Remove the segments of the audit logs that no instance wrote, with the login in the section migrate.
    ///
    /// Prints their identifiers. Segments with a position in a log stay.
    RemoveSegments,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    command: &Command,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let owner = settings.migrate.database(&settings.database);
    let servers = startup::servers(&owner, environment)?;
    let database = db::connect(servers, &owner).await?;
    let token = startup::verifying_token(&settings, environment, &database).await?;
    let done = match command {
        Command::Reseal(options) => reseal::reseal(&database, options).await,
        Command::NewKey => renew(&database, &token).await,
        Command::RemoveSegments => remove_segments(&database).await,
    };
    token.close().await;
    done
}

async fn renew(database: &db::Primary, token: &hsm::Token) -> Result<(), Failure> {
    let time = (&Clock::system(), &Entropy::system());
    let Renewed { generation, rows } = new_key(database.pool(), token, time).await?;
    writeln!(io::stdout(), "{rows} rows are sealed with generation {generation} of the row key")?;
    Ok(())
}

async fn remove_segments(database: &db::Primary) -> Result<(), Failure> {
    for (log, size) in take_back(database.pool()).await.map_err(Failure::Rows)? {
        let message = "records; the sealer gives the later positions again";
        writeln!(io::stdout(), "the {log} log has {size} {message}")?;
    }
    let removed = remove_forged(database.pool()).await.map_err(Failure::Rows)?;
    for segment in &removed {
        writeln!(io::stdout(), "{segment}")?;
    }
    writeln!(io::stdout(), "{} segments are removed", removed.len())?;
    Ok(())
}
