//! `sealward rows reseal`: shows rows that do not count or deviate to an operator, and seals them.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use crate::command::Failure;
use engine::db::{Pool, Primary};
use engine::resource::SeenRow;
use engine::rows::{
    ReviewedRows, compare, examine_all, has_events, invalid_rows, missing_rows, seal_reviewed,
};
use engine::seals::{Deviation, Difference, Flaw, RowName, SealComparison};
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Args)]
pub(in crate::command) struct ResealOptions {
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Accept that rows are missing: no decision depends on them from then on, and they do not count if somebody puts
    /// them back.
    #[arg(long)]
    accept_missing: bool,
}

/// The tables of rows whose events do not have all columns.
const HIDING: [&str; 4] = ["api_keys", "identities", "keys", "people"];

/// The table of the origins of the audit logs.
const ORIGINS: &str = "audit_log_origins";

/// What an operator must know of such a row that is not as it was last sealed.
const IN_NO_EVENT: &str = "no event has all of some rows: the secrets of API keys, the objects of keys in the token, the \
    policies of API keys and identities, the roles of people, and the keys of the audit logs and of reports. Revoke, replace \
    or delete rows that are not as last sealed, unless you know who changed them";

/// What an operator does after the origin of a log has ended.
const ORIGIN_ENDS: &str = "the origin of an audit log ends, because it decides which segments need no signature: run \
    `sealward audit init --new-origin` then";

/// What an operator decides about.
struct RowsToSeal {
    /// The rows that can be sealed.
    seen: Vec<SeenRow>,
    /// The rows that are not there.
    missing: Vec<RowName>,
    deviations: Vec<Deviation>,
    /// What is wrong with each row that was examined.
    flaws: BTreeMap<RowName, Flaw>,
}

pub(super) async fn reseal(database: &Primary, options: &ResealOptions) -> Result<(), Failure> {
    let pool = database.pool();
    let found = RowsToSeal::of(pool).await.map_err(Failure::Rows)?;
    if !found.print()? {
        writeln!(io::stdout(), "every row counts")?;
        return Ok(());
    }
    let accepted = if options.accept_missing { &found.missing[..] } else { &[] };
    let left = still_missing(found.missing.len() - accepted.len());
    if found.seen.is_empty() && accepted.is_empty() {
        writeln!(io::stdout(), "no row can be sealed{left}")?;
        return Ok(());
    }
    let ending = found.seen.iter().filter(|seen| seen.ends).count();
    let sealed = found.seen.len() - ending;
    if !options.yes && !confirm(sealed, ending, accepted.len())? {
        return Err(Failure::Other("no row was sealed".to_owned()));
    }
    let reviewed =
        ReviewedRows { seen: &found.seen, missing: accepted, deviations: &found.deviations };
    seal_reviewed(pool, reviewed, (&Clock::system(), &Entropy::system())).await?;
    writeln!(io::stdout(), "{sealed} rows are sealed{left}")?;
    if ending > 0 {
        writeln!(io::stdout(), "{ending} rows ended")?;
    }
    if !accepted.is_empty() {
        writeln!(io::stdout(), "{} rows are recorded as removed", accepted.len())?;
    }
    Ok(())
}

impl RowsToSeal {
    async fn of(pool: &Pool) -> sqlx::Result<Self> {
        examine_all(pool).await?;
        let deviations = compare(pool).await?.unwrap_or_default();
        let is_removed = |it: &&Deviation| it.difference == Difference::Removed;
        let removed: Vec<_> = deviations.iter().filter(is_removed).map(|it| it.row).collect();
        let deviating: Vec<_> = deviations.iter().map(|it| it.row).collect();
        let mut connection = pool.acquire().await?;
        let seen = invalid_rows(pool.rows_on(&mut connection), &deviating).await?;
        let missing = missing_rows(&mut connection, &removed).await?;
        let findings = pool.seals().findings();
        let flaws = findings.into_iter().map(|it| (it.row, it.flaw)).collect();
        Ok(Self { seen, missing, deviations, flaws })
    }

    /// The rows with what is wrong with each. Whatever changed since the examination, they include all that will be sealed.
    fn listed(&self) -> BTreeMap<RowName, (Option<Flaw>, Option<&Deviation>)> {
        let mut rows = BTreeMap::<RowName, (Option<Flaw>, Option<&Deviation>)>::new();
        for (row, flaw) in &self.flaws {
            rows.entry(*row).or_default().0 = Some(*flaw);
        }
        for deviation in &self.deviations {
            rows.entry(deviation.row).or_default().1 = Some(deviation);
        }
        for seen in &self.seen {
            rows.entry(seen.row).or_default();
        }
        for row in &self.missing {
            rows.entry(*row).or_default().0 = Some(Flaw::Missing);
        }
        rows
    }

    /// Prints what is wrong with each row. Returns false if there is none.
    fn print(&self) -> io::Result<bool> {
        let rows = self.listed();
        let compared: BTreeMap<_, _> = self.seen.iter().map(|seen| (seen.row, seen)).collect();
        for (row, (flaw, deviation)) in &rows {
            let flaw = match (flaw, deviation) {
                (Some(flaw), _) => flaw.name(),
                (None, Some(_)) => "counts",
                (None, None) => "does not count",
            };
            let differs = deviation.map(described).or_else(|| self.events_of_missing(*row));
            let differs = differs.unwrap_or_default();
            let comparison = compared.get(row).map_or_else(String::new, |seen| {
                format!("  {}{}", seen.comparison, if seen.ends { ", ends" } else { "" })
            });
            writeln!(io::stdout(), "{}  {}  {flaw}{differs}{comparison}", row.table, row.id)?;
        }
        let is_hiding = |seen: &SeenRow| {
            (HIDING.contains(&seen.row.table) || !has_events(seen.row.table))
                && seen.comparison != SealComparison::Same
                && !seen.ends
        };
        if self.seen.iter().any(is_hiding) {
            writeln!(io::stderr(), "{IN_NO_EVENT}")?;
        }
        if self.seen.iter().any(|seen| seen.ends && seen.row.table == ORIGINS) {
            writeln!(io::stderr(), "{ORIGIN_ENDS}")?;
        }
        Ok(!rows.is_empty())
    }

    /// What events say about a missing row that deviates from none.
    fn events_of_missing(&self, row: RowName) -> Option<String> {
        let known = match has_events(row.table) {
            true => "  no sealed event says that it exists",
            false => "  no event says whether it existed",
        };
        self.missing.contains(&row).then(|| known.to_owned())
    }
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

fn confirm(rows: usize, ending: usize, missing: usize) -> io::Result<bool> {
    let mut answer = String::new();
    let ending = match ending {
        0 => String::new(),
        ending => format!(", end {ending} rows"),
    };
    let missing = match missing {
        0 => String::new(),
        missing => format!(", and accept that {missing} more are missing"),
    };
    write!(io::stderr(), "Seal these {rows} rows as they are{ending}{missing}? Type yes: ")?;
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
