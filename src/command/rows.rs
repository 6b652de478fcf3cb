//! `sealward rows`: the seals of the rows of the database.

use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::db;
use engine::management::rows::{examine_all, invalid_rows, seal_and_record};
use engine::seals::Finding;
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Seal the rows that do not count, as they are, with the login in the section migrate.
    ///
    /// The way out after SQL by hand, a restored backup or a lost token. Prints the rows and asks first:
    /// whoever changed them decides from then on.
    Reseal(Reseal),
}

#[derive(Debug, clap::Args)]
struct Reseal {
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let Command::Reseal(wanted) = &arguments.action;
    let settings = startup::prepare_quietly(config, environment)?;
    let owner = settings.migrate.database(&settings.database);
    let servers = startup::servers(&owner, environment)?;
    let database = db::connect(servers, &owner).await?;
    let token = startup::verifying_token(&settings, environment, &database).await?;
    let done = reseal(&database, wanted.yes).await;
    token.close().await;
    done
}

async fn reseal(database: &db::Primary, is_confirmed: bool) -> Result<(), Failure> {
    let pool = database.pool();
    examine_all(pool).await.map_err(Failure::Rows)?;
    let findings = pool.seals().findings();
    if findings.is_empty() {
        writeln!(io::stdout(), "every row counts")?;
        return Ok(());
    }
    for Finding { row, flaw } in findings {
        writeln!(io::stdout(), "{}  {}  {flaw}", row.table, row.id)?;
    }
    let mut connection = pool.acquire().await.map_err(Failure::Rows)?;
    let seen = invalid_rows(pool.rows_on(&mut connection)).await.map_err(Failure::Rows)?;
    drop(connection);
    if seen.is_empty() {
        writeln!(io::stdout(), "no row can be sealed")?;
        return Ok(());
    }
    if !is_confirmed && !confirm(seen.len())? {
        return Err(Failure::Other("no row was sealed".to_owned()));
    }
    let mut transaction = pool.begin().await.map_err(Failure::Rows)?;
    let rows = pool.rows_on(&mut transaction);
    seal_and_record(rows, &seen, (&Clock::system(), &Entropy::system())).await?;
    transaction.commit().await.map_err(Failure::Rows)?;
    writeln!(io::stdout(), "{} rows are sealed", seen.len())?;
    Ok(())
}

fn confirm(rows: usize) -> io::Result<bool> {
    let mut answer = String::new();
    write!(io::stderr(), "Seal these {rows} rows as they are? Type yes: ")?;
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
