//! The columns of a resource's row.

use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, Encode, Postgres, Type};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::revision::Revision;

/// A resource that has an identifier, and a state that counts its changes.
pub trait Identified {
    /// The identifier.
    fn uuid(&self) -> Uuid;

    /// The number of its state.
    fn revision(&self) -> Revision;
}

/// A resource with its own row.
pub trait Stored: Identified + Clone + PartialEq {
    /// The table.
    const TABLE: &'static str;

    /// When it was created and last changed.
    fn times(&self) -> [Timestamp; 2];

    /// The same resource after one more change.
    #[must_use]
    fn touched(self, now: Timestamp) -> Self;

    /// The columns of the members that requests can set.
    fn columns(&self) -> Columns;
}

/// A value that the database keeps in one or more columns.
pub trait Column {
    /// Adds its columns; `name` is the name of the member.
    fn write(&self, name: &'static str, columns: &mut Columns);
}

/// Columns with their values, for one statement.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<&'static str>,
    arguments: PgArguments,
    error: Option<sqlx::Error>,
}

impl<T: Type<Postgres> + for<'q> Encode<'q, Postgres>> Column for T {
    fn write(&self, name: &'static str, columns: &mut Columns) {
        columns.set(name, self);
    }
}

impl Columns {
    /// Sets a column.
    pub fn set<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        name: &'static str,
        value: T,
    ) {
        self.names.push(name.trim_start_matches("r#"));
        if let Err(error) = self.arguments.add(value) {
            self.error = Some(sqlx::Error::Encode(error));
        }
    }

    /// The same columns and one more.
    #[must_use]
    pub fn with<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        mut self,
        name: &'static str,
        value: T,
    ) -> Self {
        self.set(name, value);
        self
    }

    /// The names and the values.
    ///
    /// # Errors
    /// A value cannot be written.
    pub fn finish(self) -> sqlx::Result<(Vec<&'static str>, PgArguments)> {
        match self.error {
            Some(error) => Err(error),
            None => Ok((self.names, self.arguments)),
        }
    }
}
