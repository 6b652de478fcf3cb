//! The columns of a resource's row.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::QueryAs;
use sqlx::{Arguments as _, AssertSqlSafe, Encode, FromRow, PgConnection, Postgres, Type};
use uuid::Uuid;

use crate::revision::Revision;
use formats::clock::Timestamp;

/// A resource that has an identifier, and a state that counts its changes.
pub trait Identified {
    /// The identifier.
    fn uuid(&self) -> Uuid;

    /// The number of its state.
    fn revision(&self) -> Revision;
}

/// A resource with its own row.
pub trait Stored: Identified + Clone + PartialEq + for<'r> FromRow<'r, PgRow> {
    /// The table.
    const TABLE: &'static str;

    /// The columns of each member.
    const COLUMNS: &'static [&'static [&'static str]];

    /// The same resource after one more change.
    fn touched(self, now: Timestamp) -> Self;

    /// The columns of its members, except its identifier and those that change by themselves.
    fn columns(&self) -> Columns;
}

/// A value that does not have one column of its own.
pub trait ColumnGroup: for<'r> FromRow<'r, PgRow> {
    /// The columns and expressions from which it is read.
    const COLUMNS: &'static [&'static str];

    /// Sets the columns to which it is written.
    fn write(&self, columns: &mut Columns);
}

/// A query of resources. `rest` follows their columns and their table. The columns are named, so that a
/// migration that adds a column does not invalidate the statements that open connections have prepared.
pub fn select<R: Stored>(rest: &'static str) -> QueryAs<'static, Postgres, R, PgArguments> {
    let columns = R::COLUMNS.iter().copied().flatten();
    let columns: Vec<&str> = columns.map(|name| column_name(name)).collect();
    let (columns, table) = (columns.join(", "), R::TABLE);
    sqlx::query_as(AssertSqlSafe(format!("SELECT {columns} FROM {table} {rest}")))
}

/// The column of a member with this name in the code.
fn column_name(name: &'static str) -> &'static str {
    name.trim_start_matches("r#")
}

/// Columns with their values, for one statement.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<&'static str>,
    arguments: PgArguments,
    error: Option<sqlx::Error>,
}

impl Columns {
    /// Sets a column.
    pub fn set<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        name: &'static str,
        value: T,
    ) {
        self.names.push(column_name(name));
        if let Err(error) = self.arguments.add(value) {
            self.error = Some(sqlx::Error::Encode(error));
        }
    }

    /// The same columns and one more.
    pub fn with<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        mut self,
        name: &'static str,
        value: T,
    ) -> Self {
        self.set(name, value);
        self
    }

    /// Inserts a row with these columns.
    pub async fn insert(
        self,
        connection: &mut PgConnection,
        table: &'static str,
    ) -> sqlx::Result<()> {
        self.insert_or(connection, table, "").await?;
        Ok(())
    }

    /// Inserts a row with these columns, unless it conflicts with another row; whether it did so.
    pub(crate) async fn insert_new(
        self,
        connection: &mut PgConnection,
        table: &'static str,
    ) -> sqlx::Result<bool> {
        let inserted = self.insert_or(connection, table, "ON CONFLICT DO NOTHING");
        Ok(inserted.await? == 1)
    }

    async fn insert_or(
        self,
        connection: &mut PgConnection,
        table: &'static str,
        on_conflict: &'static str,
    ) -> sqlx::Result<u64> {
        let (names, arguments) = self.finish()?;
        let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({}) {on_conflict}",
            names.join(", "),
            places.join(", ")
        );
        let inserted = sqlx::query_with(AssertSqlSafe(sql), arguments);
        Ok(inserted.execute(connection).await?.rows_affected())
    }

    /// Writes these columns of the row with this identifier.
    pub async fn update(
        self,
        connection: &mut PgConnection,
        table: &'static str,
        id: Uuid,
    ) -> sqlx::Result<()> {
        let (mut names, arguments) = self.with("id", id).finish()?;
        let id = names.len();
        names.pop();
        let sets: Vec<String> =
            (1..).zip(names).map(|(place, name)| format!("{name} = ${place}")).collect();
        let sql = format!("UPDATE {table} SET {} WHERE id = ${id}", sets.join(", "));
        let updated = sqlx::query_with(AssertSqlSafe(sql), arguments);
        updated.execute(connection).await?;
        Ok(())
    }

    fn finish(self) -> sqlx::Result<(Vec<&'static str>, PgArguments)> {
        match self.error {
            Some(error) => Err(error),
            None => Ok((self.names, self.arguments)),
        }
    }
}
