//! Seals rows because an operator says that they are right.

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::attested::{Attested as _, each_attested};
use super::kinds::{each_kind, type_of};
use crate::ids::EventId;
use crate::management::{Actor, Event, insert_event};
use crate::resource::{Rows, SeenRow, Stored as _, reseal, select};
use crate::seals::{RowName, forget_members};
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

/// The same, with an event for each row, which attests its state from then on. So do events for the rows in
/// `removed`, whose absence the operator accepts: no row that they shared something with waits for them.
pub async fn seal_and_record(
    mut rows: Rows<&mut PgConnection>,
    seen: &[SeenRow],
    removed: &[RowName],
    (clock, entropy): (&Clock, &Entropy),
) -> Result<(), NotSealed> {
    seal_seen(rows.again(), seen).await?;
    let gone: Vec<Uuid> = removed.iter().map(|row| row.id).collect();
    forget_members(&mut *rows.executor, &gone).await?;
    for row in seen.iter().map(|seen| &seen.row).chain(removed) {
        let state = state_of(rows.again(), *row).await?;
        let event = Event::row_sealed(type_of(row.table), *row, state.as_ref());
        let (id, now) = (EventId::new(clock, entropy), clock.now());
        let actor = Actor::system("cli");
        insert_event(rows.again(), id, now, &actor, event, None).await?;
    }
    Ok(())
}

/// The state of a row that events attest.
async fn state_of(mut rows: Rows<&mut PgConnection>, row: RowName) -> sqlx::Result<Option<Value>> {
    each_attested!(R => if row.table == R::TABLE {
        let found = select::<R>("WHERE id = $1").bind(row.id).fetch_optional(rows.again()).await?;
        return Ok(found.and_then(|found| found.state()));
    });
    Ok(None)
}
