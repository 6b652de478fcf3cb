//! Sealed rows: the row key, and the rows that do not count.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use hsm::Token;
use sqlx::PgConnection;
use tokio::time::{Instant, sleep};

use super::changes::StoredChange;
use super::security::SecurityLog;
use super::{Actor, Event, ResourceType, store};
use crate::auth::{ApiKey, Emergency, Person, Service, Session, WorkloadIdentity};
use crate::db::Pool;
use crate::ids::EventId;
use crate::jobs::Pulse;
use crate::keys::{ImportKeyRecord, Key};
use crate::policy::Policy;
use crate::resource::{InvalidRow, Rows, Stored as _, examine, invalid, reseal};
use crate::seals::{self, Finding, NotDerived, RowName};
use formats::clock::{Clock, Entropy};

/// How often every row is examined.
const EXAMINATION: Duration = Duration::from_secs(60 * 60);

/// How often new findings are recorded.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long a finding is not recorded again.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// When each finding was recorded.
pub type RecordedFindings = HashMap<RowName, Instant>;

/// Why the row key was not made.
#[derive(Debug, thiserror::Error)]
pub enum NotInitialized {
    /// The token failed.
    #[error(transparent)]
    Token(#[from] NotDerived),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Makes the row key in the token, unless it has one. Returns whether it was made.
pub async fn initialize(pool: &Pool, token: &Token) -> Result<bool, NotInitialized> {
    let mut transaction = pool.begin().await?;
    store::lock_initialization(&mut transaction).await?;
    let made = seals::initialize(token, pool.seals()).await?;
    transaction.commit().await?;
    Ok(made)
}

/// Runs a statement with `R` as each kind of sealed row.
macro_rules! each_kind {
    ($R:ident => $run:expr) => {{
        each_kind!(@ $R, $run, Service Emergency Policy Key ImportKeyRecord ApiKey WorkloadIdentity Person Session StoredChange);
    }};
    (@ $R:ident, $run:expr, $($kind:ident)*) => {$({
        type $R = $kind;
        $run;
    })*};
}

/// Every row that does not count and can be sealed.
pub async fn invalid_rows(mut rows: Rows<&mut PgConnection>) -> sqlx::Result<Vec<InvalidRow>> {
    let mut found = Vec::new();
    each_kind!(R => found.extend(invalid::<R>(rows.again()).await?));
    Ok(found)
}

/// Why rows were not sealed.
#[derive(Debug, thiserror::Error)]
pub enum NotSealed {
    /// Somebody changed them since they were seen.
    #[error("{} rows changed in the meantime: run the command again", .0.len())]
    Changed(Vec<RowName>),
    /// The database failed.
    #[error("cannot read or write the rows: {0}")]
    Database(#[from] sqlx::Error),
}

/// Seals these rows as an operator saw them, in the transaction of the connection.
pub async fn seal_seen(
    mut rows: Rows<&mut PgConnection>,
    seen: &[InvalidRow],
) -> Result<(), NotSealed> {
    let mut changed = Vec::new();
    each_kind!(R => changed.extend(reseal::<R>(rows.again(), seen).await?));
    if changed.is_empty() { Ok(()) } else { Err(NotSealed::Changed(changed)) }
}

/// The same, with an event for each row.
pub async fn seal_and_record(
    mut rows: Rows<&mut PgConnection>,
    seen: &[InvalidRow],
    (clock, entropy): (&Clock, &Entropy),
) -> Result<(), NotSealed> {
    seal_seen(rows.again(), seen).await?;
    for InvalidRow { row, .. } in seen {
        let event = Event::row_sealed(type_of(row.table), *row);
        let (id, now) = (EventId::new(clock, entropy), clock.now());
        let actor = Actor::system("cli");
        store::insert_event(&mut *rows.executor, id, now, &actor, event, None).await?;
    }
    Ok(())
}

/// Gets the row key as soon as a token answers. From then on, examines every row once an hour and records
/// each invalid row once an hour. `recorded` remains when this starts again.
pub async fn watch(
    pool: Pool,
    token: Token,
    security: SecurityLog,
    recorded: &mut RecordedFindings,
    pulse: Pulse,
) -> Infallible {
    pool.seals().open_when_possible(&token, || pulse.alive()).await;
    let mut examined: Option<Instant> = None;
    loop {
        if examined.is_none_or(|at| at.elapsed() >= EXAMINATION) {
            match examine_all(&pool).await {
                Ok(()) => examined = Some(Instant::now()),
                Err(error) => tracing::debug!(%error, "the rows could not be examined yet"),
            }
        }
        for finding in pool.seals().findings() {
            let is_known = recorded.get(&finding.row).is_some_and(|at| at.elapsed() < SILENCE);
            if !is_known && record(&security, finding).await {
                recorded.insert(finding.row, Instant::now());
            }
        }
        pulse.succeeded();
        sleep(INTERVAL).await;
    }
}

/// Examines every sealed row.
pub async fn examine_all(pool: &Pool) -> sqlx::Result<()> {
    let rows = pool.rows();
    each_kind!(R => examine::<R, _>(&rows).await?);
    Ok(())
}

async fn record(security: &SecurityLog, finding: Finding) -> bool {
    let Finding { row, flaw } = finding;
    tracing::error!(table = row.table, id = %row.id, %flaw, "a row of the database does not count: see \"Rows that do not count\" in the operations guide");
    let event = Event::row_invalid(type_of(row.table), row, flaw);
    let recorded = security.record(&Actor::system("row monitor"), event).await;
    if let Err(error) = &recorded {
        tracing::debug!(%error, "an invalid row could not be recorded yet");
    }
    recorded.is_ok()
}

/// The type of the resource in a row of this table.
fn type_of(table: &str) -> ResourceType {
    match table {
        Service::TABLE => ResourceType::Service,
        Emergency::TABLE => ResourceType::Emergency,
        Policy::TABLE => ResourceType::Policy,
        Key::TABLE => ResourceType::Key,
        ApiKey::TABLE => ResourceType::ApiKey,
        WorkloadIdentity::TABLE => ResourceType::Identity,
        ImportKeyRecord::TABLE => ResourceType::ImportKey,
        Person::TABLE => ResourceType::Person,
        Session::TABLE => ResourceType::Dashboard,
        StoredChange::TABLE => ResourceType::Change,
        _ => ResourceType::Instance,
    }
}
