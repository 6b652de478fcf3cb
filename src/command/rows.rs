//! `sealward rows`: the seals of the rows of the database.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::db;
use engine::ledger::take_back;
use engine::rows::{
    Renewed, Shown, compare, examine_all, has_events, invalid_rows, missing_rows, new_key,
    seal_shown,
};
use engine::seals::{Deviation, Difference, Finding, Flaw, RowName};
use engine::segments::remove_forged;
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Seal the rows that do not count or deviate, as they are, with the login in the section migrate.
    ///
    /// Use it after changes with SQL, a restored backup or a lost token. Prints the rows, and how they
    /// differ from their last events, and asks first: their values count from then on. Also prints rows that
    /// are missing.
    Reseal(Reseal),
    /// Make another row key in the tokens, and seal all rows under it, with the login in the section migrate.
    ///
    /// Running instances continue. The former key is destroyed at the end. After an interruption, run the
    /// command again.
    NewKey,
    /// Remove the segments of the audit logs that no instance wrote, with the login in the section migrate.
    ///
    /// Prints their identifiers. Segments with a position in a log stay.
    RemoveSegments,
}

#[derive(Debug, clap::Args)]
pub(super) struct Reseal {
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Accept that rows are missing: no decision depends on them from then on, and they do not count if somebody puts
    /// them back.
    #[arg(long)]
    accept_missing: bool,
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
        Command::Reseal(wanted) => reseal(&database, wanted).await,
        Command::NewKey => renew(&database, &token).await,
        Command::RemoveSegments => remove_segments(&database).await,
    };
    token.close().await;
    done
}

/// The tables of rows whose events do not have all columns.
const HIDING: [&str; 4] = ["api_keys", "identities", "keys", "people"];

/// What an operator must know of them.
const NOT_COMPARED: &str = "not compared, because no event has them: the secrets of API keys, the objects of keys in the \
    token, the policies of API keys and identities, and the roles of people";

async fn reseal(database: &db::Primary, wanted: &Reseal) -> Result<(), Failure> {
    let pool = database.pool();
    examine_all(pool).await.map_err(Failure::Rows)?;
    let deviations = compare(pool).await.map_err(Failure::Rows)?.unwrap_or_default();
    let (removed, deviating): (Vec<_>, Vec<_>) =
        deviations.iter().partition(|it| it.difference == Difference::Removed);
    let names = |of: Vec<&Deviation>| of.iter().map(|it| it.row).collect::<Vec<_>>();
    let (mut recorded, deviating) = (names(removed), names(deviating));
    let mut connection = pool.acquire().await.map_err(Failure::Rows)?;
    let seen = invalid_rows(pool.rows_on(&mut connection), &deviating).await;
    let seen = seen.map_err(Failure::Rows)?;
    let missing = missing_rows(&mut connection, &recorded).await.map_err(Failure::Rows)?;
    drop(connection);
    // What will be sealed is printed, whatever changed since the examination, and however many rows it found.
    let mut wrong = wrong(pool.seals().findings(), &deviations);
    for seen in &seen {
        wrong.entry(seen.row).or_default();
    }
    for row in &missing {
        wrong.entry(*row).or_default().0 = Some(Flaw::Missing);
    }
    if wrong.is_empty() {
        writeln!(io::stdout(), "every row counts")?;
        return Ok(());
    }
    for (row, (flaw, deviation)) in &wrong {
        let flaw = match (flaw, deviation) {
            (Some(flaw), _) => flaw.name(),
            (None, Some(_)) => "counts",
            (None, None) => "does not count",
        };
        let differs = match deviation {
            Some(deviation) => described(deviation),
            None if !missing.contains(row) => String::new(),
            None if has_events(row.table) => "  no sealed event says that it exists".to_owned(),
            None => "  no event says whether it existed".to_owned(),
        };
        writeln!(io::stdout(), "{}  {}  {flaw}{differs}", row.table, row.id)?;
    }
    if seen.iter().any(|seen| HIDING.contains(&seen.row.table)) {
        writeln!(io::stderr(), "{NOT_COMPARED}")?;
    }
    recorded.retain(|row| !missing.contains(row));
    let sealed = seen.len() + recorded.len();
    let accepted = if wanted.accept_missing { &missing[..] } else { &[] };
    if sealed + accepted.len() == 0 {
        writeln!(io::stdout(), "no row can be sealed{}", still_missing(missing.len()))?;
        return Ok(());
    }
    if !wanted.yes && !confirm(sealed, accepted.len())? {
        return Err(Failure::Other("no row was sealed".to_owned()));
    }
    recorded.extend(accepted);
    let shown = Shown { seen: &seen, removed: &recorded, deviations: &deviations };
    seal_shown(pool, shown, (&Clock::system(), &Entropy::system())).await?;
    let left = still_missing(missing.len() - accepted.len());
    writeln!(io::stdout(), "{sealed} rows are sealed{left}")?;
    if !accepted.is_empty() {
        writeln!(io::stdout(), "{} rows are recorded as removed", accepted.len())?;
    }
    Ok(())
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

/// What is wrong with each row.
fn wrong(
    findings: Vec<Finding>,
    deviations: &[Deviation],
) -> BTreeMap<RowName, (Option<Flaw>, Option<&Deviation>)> {
    let mut wrong = BTreeMap::<_, (Option<Flaw>, Option<&Deviation>)>::new();
    for Finding { row, flaw } in findings {
        wrong.entry(row).or_default().0 = Some(flaw);
    }
    for deviation in deviations {
        wrong.entry(deviation.row).or_default().1 = Some(deviation);
    }
    wrong
}

/// How a row differs from its last event.
fn described(deviation: &Deviation) -> String {
    let members = deviation.members.join(", ");
    let members = if members.is_empty() { members } else { format!(": {members}") };
    format!("  {}{members}", deviation.difference)
}

/// What an operator can do about rows that are still missing.
fn still_missing(missing: usize) -> String {
    match missing {
        0 => String::new(),
        _ => format!(
            ", and {missing} are missing: insert them from a backup, or accept it with --accept-missing"
        ),
    }
}

fn confirm(rows: usize, missing: usize) -> io::Result<bool> {
    let mut answer = String::new();
    let missing = match missing {
        0 => String::new(),
        missing => format!(", and accept that {missing} more are missing"),
    };
    write!(io::stderr(), "Seal these {rows} rows as they are{missing}? Type yes: ")?;
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
