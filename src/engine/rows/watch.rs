//! The monitor of all rows.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use hsm::{Token, TokenState};
use tokio::time::{Instant, sleep};

use super::compare;
use super::examination::{ExaminationStatus, INTERVAL};
use super::examine::examine_all;
use super::kinds::type_of;
use crate::db::Pool;
use crate::jobs::{Pulse, STARTING};
use crate::management::security::SecurityLog;
use crate::management::{Actor, Event};
use crate::seals::{Deviation, Difference, Finding, Flaw, RowName};

/// How often the tokens are asked for the row key again.
const ASKING: Duration = Duration::from_secs(60);

/// How often new findings are recorded.
const RECORDING: Duration = Duration::from_secs(1);

/// How long a finding is not recorded again.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// When each finding was recorded.
pub type RecordedFindings = HashMap<(RowName, Reason), Instant>;

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It does not count.
    Flaw(Flaw),
    /// It deviates.
    Difference(Difference),
}

/// Gets the row key as soon as a token answers. From then on, asks the tokens for it again and again, examines
/// every row soon and then once an hour, compares it with its last event, and records each finding once an hour.
/// `status` and `recorded` remain when this starts again.
pub async fn watch(
    pool: Pool,
    token: Token,
    security: SecurityLog,
    (status, recorded): (ExaminationStatus, &mut RecordedFindings),
    pulse: Pulse,
) -> Infallible {
    pool.seals().open_when_possible(&token, || pulse.alive()).await;
    let (mut next, mut is_failing) = (Instant::now() + STARTING, false);
    let mut asked = (Instant::now(), serving(&token));
    loop {
        // A token that comes back can have another internal key.
        let serving = serving(&token);
        if asked.0.elapsed() >= ASKING || asked.1 != serving {
            pool.seals().refresh().await;
            asked = (Instant::now(), serving);
        }
        if Instant::now() >= next {
            match examine(&pool).await {
                Ok(()) => {
                    status.succeeded();
                    (next, is_failing) = (Instant::now() + INTERVAL, false);
                }
                Err(error) if is_failing => tracing::debug!(%error, "the rows cannot be examined"),
                Err(error) => {
                    tracing::error!(%error, "the rows cannot be examined: the next attempts follow");
                    is_failing = true;
                }
            }
        }
        for (name, event) in wrong(&pool) {
            let is_known = recorded.get(&name).is_some_and(|at| at.elapsed() < SILENCE);
            if !is_known && record(&security, name, event).await {
                recorded.insert(name, Instant::now());
            }
        }
        match is_failing {
            true => pulse.alive(),
            false => pulse.succeeded(),
        }
        sleep(RECORDING).await;
    }
}

/// The tokens that serve, by their places.
fn serving(token: &Token) -> Vec<bool> {
    let tokens = token.status().tokens.into_iter();
    tokens.map(|token| token.state == TokenState::Serving).collect()
}

/// Rows that cannot be examined do not hide those that deviate.
async fn examine(pool: &Pool) -> sqlx::Result<()> {
    let examined = examine_all(pool).await;
    let deviations = compare(pool).await?;
    pool.seals().keep_deviations(&deviations.unwrap_or_default());
    examined
}

/// What is wrong with rows, with the event of each. An invalid row is named once, with its flaw.
fn wrong(pool: &Pool) -> Vec<((RowName, Reason), Event)> {
    let findings = pool.seals().findings();
    let invalid: HashSet<RowName> = findings.iter().map(|finding| finding.row).collect();
    let deviations = pool.seals().deviations().into_iter();
    let deviations = deviations.filter(|deviation| !invalid.contains(&deviation.row));
    let findings = findings.into_iter().map(|Finding { row, flaw }| {
        ((row, Reason::Flaw(flaw)), Event::row_invalid(type_of(row.table), row, flaw))
    });
    let deviations = deviations.map(|deviation| {
        let Deviation { row, difference, .. } = deviation;
        let event = Event::row_deviates(type_of(row.table), &deviation);
        ((row, Reason::Difference(difference)), event)
    });
    findings.chain(deviations).collect()
}

async fn record(security: &SecurityLog, (row, reason): (RowName, Reason), event: Event) -> bool {
    let (table, id) = (row.table, row.id);
    match reason {
        Reason::Flaw(flaw) => {
            tracing::error!(table, %id, %flaw, "a row of the database does not count: see \"Rows that do not count\" in the operations guide");
        }
        Reason::Difference(difference) => {
            tracing::error!(table, %id, %difference, "a row of the database is not as its last event says: see \"Rows that deviate\" in the operations guide");
        }
    }
    let recorded = security.record(&Actor::system("row monitor"), event).await;
    if let Err(error) = &recorded {
        tracing::debug!(%error, "what is wrong with a row could not be recorded yet");
    }
    recorded.is_ok()
}
