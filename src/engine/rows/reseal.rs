//! Seals rows because an operator says that they are right.

use serde_json::Value;
use sqlx::PgConnection;

use super::compare::compare;
use super::kinds::{each_attested, each_kind, type_of};
use super::store::living;
use crate::db::Pool;
use crate::ids::EventId;
use crate::management::{Actor, Attested as _, Event, insert_event};
use crate::resource::{Rows, SeenRow, Stored as _, is_there, reseal};
use crate::seals::{Deviation, RowName, accept_absence};
use formats::clock::{Clock, Entropy};

/// Why rows were not sealed.
#[derive(Debug, thiserror::Error)]
pub enum NotSealed {
    /// They changed since they were seen.
    #[error("{} rows changed in the meantime: run the command again", .0.len())]
    Changed(Vec<RowName>),
    /// The database failed.
    #[error("cannot read or write the rows: {0}")]
    Database(#[from] sqlx::Error),
}

/// Seals these rows as an operator saw them, in the transaction of the connection.
pub async fn seal_seen(
    mut rows: Rows<&mut PgConnection>,
    seen: &[SeenRow],
) -> Result<(), NotSealed> {
    let mut changed = Vec::new();
    each_kind!(R => changed.extend(reseal::<R>(rows.again(), seen).await?));
    if changed.is_empty() { Ok(()) } else { Err(NotSealed::Changed(changed)) }
}

/// What an operator saw: rows, rows that are gone, and how rows differ from their last sealed events.
#[derive(Clone, Copy, Debug)]
pub struct ReviewedRows<'s> {
    /// The rows to seal.
    pub seen: &'s [SeenRow],
    /// Those whose absence the operator accepts.
    pub missing: &'s [RowName],
    /// The differences, of these rows and of others.
    pub deviations: &'s [Deviation],
}

/// Seals and records rows as an operator saw them, if they still differ from their events as the operator saw it:
/// whoever writes to the database could change them between the comparison and the reading.
pub async fn seal_reviewed(
    pool: &Pool,
    reviewed: ReviewedRows<'_>,
    at: (&Clock, &Entropy),
) -> Result<(), NotSealed> {
    let mut transaction = pool.begin().await?;
    seal_and_record(pool.rows_on(&mut transaction), reviewed.seen, reviewed.missing, at).await?;
    // Another transaction sees the rows as they were, and none can change them before the commit.
    let compared = compare(pool).await?.unwrap_or_default();
    let rows = reviewed.seen.iter().map(|seen| seen.row).chain(reviewed.missing.iter().copied());
    let of = |deviations: &[Deviation], row| -> Vec<Deviation> {
        deviations.iter().filter(|it| it.row == row).cloned().collect()
    };
    let is_other = |row: &RowName| of(&compared, *row) != of(reviewed.deviations, *row);
    let changed: Vec<RowName> = rows.filter(is_other).collect();
    if !changed.is_empty() {
        return Err(NotSealed::Changed(changed));
    }
    Ok(transaction.commit().await?)
}

/// Seals these rows with an event for each, which attests its state from then on. So do events for the `missing` rows,
/// whose absence the operator accepts: no decision depends on them any longer.
pub async fn seal_and_record(
    mut rows: Rows<&mut PgConnection>,
    seen: &[SeenRow],
    missing: &[RowName],
    (clock, entropy): (&Clock, &Entropy),
) -> Result<(), NotSealed> {
    seal_seen(rows.again(), seen).await?;
    accept_missing(rows.executor, missing).await?;
    for row in seen.iter().map(|seen| &seen.row).chain(missing) {
        let state = state_of(rows.again(), *row).await?;
        let event = Event::row_sealed(type_of(row.table), *row, state.as_ref());
        let (id, now) = (EventId::new(clock, entropy), clock.now());
        let actor = Actor::system("cli");
        insert_event(rows.again(), id, now, &actor, event, None).await?;
    }
    Ok(())
}

/// Accepts the absence of these rows, if none has come back.
async fn accept_missing(
    connection: &mut PgConnection,
    missing: &[RowName],
) -> Result<(), NotSealed> {
    let mut changed = Vec::new();
    each_kind!(R => for row in missing.iter().filter(|row| row.table == R::TABLE) {
        match is_there::<R>(&mut *connection, row.id).await? {
            true => changed.push(*row),
            false => accept_absence(&mut *connection, *row).await?,
        }
    });
    if changed.is_empty() { Ok(()) } else { Err(NotSealed::Changed(changed)) }
}

/// Whether events say how the rows of this table are.
pub fn has_events(table: &str) -> bool {
    let mut has_events = false;
    each_attested!(R => has_events |= table == R::TABLE);
    has_events
}

/// The state of a row that events attest.
async fn state_of(mut rows: Rows<&mut PgConnection>, row: RowName) -> sqlx::Result<Option<Value>> {
    each_attested!(R => if row.table == R::TABLE {
        let found = living::<R>(row.id).fetch_optional(rows.again()).await?;
        return Ok(found.and_then(|found| found.state()));
    });
    Ok(None)
}
