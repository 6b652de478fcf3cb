//! The position of a record in its log.

use std::collections::HashSet;

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};
use uuid::Uuid;

use super::place::Place;
use super::{Log, store};
use crate::seals::{Seals, lost_generations};
use formats::tlog::Hash;

/// Where a record is in its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// It has no position yet.
    Waiting,
    /// It is the record of this position.
    Sealed(i64),
    /// The record of this position was another one.
    Changed(i64),
}

/// A row with the column `place`, the first position of its record.
#[derive(Debug)]
pub(crate) struct Placed<R> {
    pub(crate) row: R,
    place: Option<Place>,
}

impl<R> Placed<R> {
    /// Where the record is. `own` is the hash of its leaf; none if it has no leaf.
    pub(crate) async fn placement(
        &self,
        connection: &mut PgConnection,
        seals: &Seals,
        (log, id): (Log, Uuid),
        own: Option<Hash>,
    ) -> sqlx::Result<Placement> {
        match self.place {
            None => Ok(Placement::Waiting),
            Some(place) if own == Some(place.leaf_hash) => Ok(Placement::Sealed(place.index)),
            Some(_) => placement(connection, seals, (log, id), own).await,
        }
    }
}

/// Where a record is. Only the position of a segment that an instance wrote says that a record was changed: the
/// login of the database can write others, which also name the record.
pub(crate) async fn placement(
    connection: &mut PgConnection,
    seals: &Seals,
    (log, id): (Log, Uuid),
    own: Option<Hash>,
) -> sqlx::Result<Placement> {
    let key = seals.current();
    let lost = match &key {
        Some(key) => lost_generations(&mut *connection, key).await?,
        None => HashSet::new(),
    };
    let mut placement = Placement::Waiting;
    for (place, segment) in store::places(connection, log, id).await? {
        if own == Some(place.leaf_hash) {
            return Ok(Placement::Sealed(place.index));
        }
        let is_forged = key.as_ref().is_some_and(|key| segment.is_forged(key, &lost));
        if placement == Placement::Waiting && !is_forged {
            placement = Placement::Changed(place.index);
        }
    }
    Ok(placement)
}

impl<'r, R: FromRow<'r, PgRow>> FromRow<'r, PgRow> for Placed<R> {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self { row: R::from_row(row)?, place: row.try_get("place")? })
    }
}
