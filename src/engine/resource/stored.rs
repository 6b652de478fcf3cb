//! Resources with rows of their own.

use sqlx::FromRow;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::columns::Columns;
use crate::revision::Revision;
use crate::seals::{Forms, GroupKind, RowName, SealComparison, What};
use formats::clock::Timestamp;

/// A resource that has an identifier, and a state that counts its changes.
pub trait Identified {
    /// The identifier.
    fn uuid(&self) -> Uuid;

    /// The number of its state.
    fn revision(&self) -> Revision;
}

/// A resource from which the table `revisions` can take something away.
pub trait Deprivable {
    /// What an entry can take away. After any other entry the row does not count.
    const LOSES: Option<What> = None;

    /// Whether entries can take it away before its row was made.
    const IS_LOST_BEFORE_MADE: bool = false;

    /// The groups that its rows join, by entries of the same table.
    const GROUPS: &'static [GroupKind] = &[];

    /// Takes it away. Nothing happens where the resource does not have it.
    fn deprive(&mut self, _at: Timestamp) {}

    /// What an operator can seal of a row that is not as it was last sealed, as far as this is known. None where the row
    /// ends instead, because no operator can know whether it is right.
    fn resealed(self, _comparison: SealComparison) -> Option<Self>
    where
        Self: Sized,
    {
        Some(self)
    }
}

/// A resource with its own row, which is sealed.
pub trait Stored: Identified + Deprivable + Clone + for<'r> FromRow<'r, PgRow> {
    /// The table.
    const TABLE: &'static str;

    /// The columns of each member.
    const COLUMNS: &'static [&'static [&'static str]];

    /// Whether the row stays after the end of what it describes.
    const IS_KEPT: bool;

    /// The forms of its rows.
    const FORMS: Forms;

    /// The same resource at this revision.
    fn at(self, revision: Revision) -> Self;

    /// The same resource, shown as one whose row does not count.
    fn marked_invalid(self) -> Self;

    /// The columns of its members, except its identifier and those that change by themselves.
    fn columns(&self) -> Columns;

    /// The same resource at the next revision, for a change that people do not see.
    fn rewritten(self) -> Self {
        let next = self.revision().next();
        self.at(next)
    }

    /// The name of its row.
    fn row(&self) -> RowName {
        RowName { table: Self::TABLE, id: self.uuid() }
    }
}

/// A resource that knows the time of its last change.
pub trait Touched: Stored + PartialEq {
    /// The same resource after one more change.
    fn touched(self, now: Timestamp) -> Self;
}

/// A resource whose row stays after its deletion.
pub trait Deletable {
    /// The same resource, deleted at this time.
    fn deleted(self, at: Timestamp) -> Self;
}

/// A value that does not have one column of its own.
pub trait ColumnGroup: for<'r> FromRow<'r, PgRow> {
    /// The columns and expressions from which it is read.
    const COLUMNS: &'static [&'static str];

    /// Sets the columns to which it is written.
    fn write(&self, columns: &mut Columns);
}
