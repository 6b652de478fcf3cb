//! The columns of a resource's row, and how rows are written.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, Encode, FromRow, PgConnection, Postgres, Type};
use uuid::Uuid;

use super::rows::Rows;
use crate::revision::Revision;
use crate::seals::{Form, RowName, What};
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
    /// Takes it away. Nothing happens where the resource does not have it.
    fn deprive(&mut self, what: What, at: Timestamp);
}

/// A resource with its own row, which is sealed.
pub trait Stored: Identified + Deprivable + Clone + for<'r> FromRow<'r, PgRow> {
    /// The table.
    const TABLE: &'static str;

    /// The columns of each member.
    const COLUMNS: &'static [&'static [&'static str]];

    /// Whether the row stays after the end of what it describes.
    const IS_KEPT: bool;

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

/// The column of a member with this name in the code.
pub(super) fn column_name(name: &'static str) -> &'static str {
    name.trim_start_matches("r#")
}

/// Columns with their values, for one statement, and the form in which they are sealed.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<&'static str>,
    arguments: PgArguments,
    form: Form,
    error: Option<sqlx::Error>,
}

impl Columns {
    /// Sets a column that decides something.
    pub fn set<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        name: &'static str,
        value: T,
    ) {
        if let Err(error) = self.form.add(column_name(name), &value) {
            self.error = Some(sqlx::Error::Encode(error));
        }
        self.set_unsealed(name, value);
    }

    /// Sets a column that the seal does not cover.
    fn set_unsealed<T: Type<Postgres> + for<'q> Encode<'q, Postgres>>(
        &mut self,
        name: &'static str,
        value: T,
    ) {
        self.names.push(column_name(name));
        if let Err(error) = self.arguments.add(value) {
            self.error = Some(sqlx::Error::Encode(error));
        }
    }

    /// The form in which these columns are sealed.
    pub(super) fn form(&self) -> sqlx::Result<&Form> {
        match &self.error {
            Some(_) => Err(sqlx::Error::Encode("a column of the row has no form".into())),
            None => Ok(&self.form),
        }
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

    async fn update(
        mut self,
        connection: &mut PgConnection,
        table: &'static str,
        id: Uuid,
    ) -> sqlx::Result<()> {
        self.set_unsealed("id", id);
        let (mut names, arguments) = self.finish()?;
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

/// Inserts the row of a new resource, which another row with the same name refuses.
pub async fn insert<R: Stored>(rows: Rows<&mut PgConnection>, resource: &R) -> sqlx::Result<()> {
    insert_or(rows, resource, "").await?;
    Ok(())
}

/// Inserts the row of a new resource, unless it conflicts with another row; whether it did so.
pub async fn insert_new<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
) -> sqlx::Result<bool> {
    insert_or(rows, resource, "ON CONFLICT DO NOTHING").await
}

async fn insert_or<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    on_conflict: &'static str,
) -> sqlx::Result<bool> {
    let mut columns = sealed(&rows, resource)?;
    columns.set_unsealed("id", resource.uuid());
    let inserted = columns.insert_or(&mut *rows.executor, R::TABLE, on_conflict).await? == 1;
    if inserted {
        note(rows.executor, resource.row(), resource.revision(), What::Made).await?;
    }
    Ok(inserted)
}

/// Writes a changed resource at its new revision.
pub async fn update<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    what: What,
) -> sqlx::Result<()> {
    let columns = sealed(&rows, resource)?;
    columns.update(&mut *rows.executor, R::TABLE, resource.uuid()).await?;
    note(rows.executor, resource.row(), resource.revision(), what).await
}

fn sealed<R: Stored>(rows: &Rows<&mut PgConnection>, resource: &R) -> sqlx::Result<Columns> {
    let mut columns = resource.columns();
    let seal = rows.seals.seal(resource.row(), resource.revision().number(), columns.form()?)?;
    columns.set_unsealed("seal", seal);
    Ok(columns)
}

/// Adds an entry to the table `revisions`.
async fn note(
    connection: &mut PgConnection,
    row: RowName,
    revision: Revision,
    what: What,
) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO revisions (table_name, id, revision, what) VALUES ($1, $2, $3, $4)")
        .bind(row.table)
        .bind(row.id)
        .bind(revision)
        .bind(what)
        .execute(connection)
        .await?;
    Ok(())
}
