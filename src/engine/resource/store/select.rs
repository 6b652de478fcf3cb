//! How rows are read: a row that does not count does not exist.

use std::marker::PhantomData;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{
    Arguments as _, AssertSqlSafe, Encode, FromRow, PgConnection, PgExecutor, Postgres, Row as _,
    Type,
};
use uuid::Uuid;

use super::rows::Rows;
use crate::resource::columns::column_name;
use crate::resource::stored::Stored;
use crate::revision::Revision;
use crate::seals::{
    ENTRIES, Entries, Entry, Flaw, RowForm, RowName, Seals, Standing, entries_of, generation_of,
};

/// A query of resources. `rest` follows their columns and their table. The columns are named, so that a
/// migration that adds a column does not invalidate the statements that open connections have prepared.
pub fn select<R: Stored>(rest: &'static str) -> Select<R> {
    Select { rest, arguments: PgArguments::default(), error: None, of: PhantomData }
}

/// A query of resources.
#[derive(Debug)]
pub struct Select<R> {
    rest: &'static str,
    arguments: PgArguments,
    error: Option<sqlx::Error>,
    of: PhantomData<fn() -> R>,
}

impl<R: Stored + Send + Unpin> Select<R> {
    /// Sets the next parameter.
    pub fn bind<'q, T: Type<Postgres> + Encode<'q, Postgres>>(mut self, value: T) -> Self {
        if let Err(error) = self.arguments.add(value) {
            self.error = Some(sqlx::Error::Encode(error));
        }
        self
    }

    /// The valid resources.
    pub async fn fetch_all(self, rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<R>> {
        let marked = self.fetch_marked(rows).await?.into_iter();
        Ok(marked.filter(|marked| marked.is_valid).filter_map(|marked| marked.resource).collect())
    }

    /// All resources that can be read, for people. Those that do not count are marked.
    pub(crate) async fn fetch_listed(
        self,
        rows: Rows<impl PgExecutor<'_>>,
    ) -> sqlx::Result<Vec<R>> {
        let marked = self.fetch_marked(rows).await?.into_iter();
        let shown = marked.filter_map(|marked| match marked.is_valid {
            true => marked.resource,
            false => marked.resource.map(R::marked_invalid),
        });
        Ok(shown.collect())
    }

    /// The first valid resource.
    pub async fn fetch_optional(self, rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Option<R>> {
        Ok(self.fetch_all(rows).await?.into_iter().next())
    }

    /// All rows, and whether each is valid.
    pub(crate) async fn fetch_marked(
        self,
        rows: Rows<impl PgExecutor<'_>>,
    ) -> sqlx::Result<Vec<Marked<R>>> {
        let read = self.read(rows.executor).await?;
        // A generation that is newer than this process is no forgery.
        if let Some(generation) = rows.seals.unknown(read.iter().filter_map(Read::seal)) {
            rows.seals.learn(generation).await;
        }
        let marked = read.into_iter().map(|read| read.judged(&rows.seals));
        marked.collect()
    }

    /// All rows as [`Select::fetch_marked`] reads them, with their columns as the same read has them.
    pub(super) async fn fetch_with_forms(
        self,
        rows: Rows<impl PgExecutor<'_>>,
    ) -> sqlx::Result<Vec<(Marked<R>, Option<RowForm>)>> {
        let read = self.read(rows.executor).await?.into_iter();
        let seen = read.map(|read| {
            let form = read.resource.as_ref().map(|it| it.columns().form().cloned()).transpose()?;
            Ok((read.judged(&rows.seals)?, form))
        });
        seen.collect()
    }

    /// All rows as they and their entries are, for comparisons. No seal was verified, so nothing may be
    /// decided by them.
    pub(crate) async fn fetch_unverified(
        self,
        executor: impl PgExecutor<'_>,
    ) -> sqlx::Result<Vec<(Uuid, Option<R>)>> {
        let read = self.read(executor).await?.into_iter();
        Ok(read.map(Read::unverified).collect())
    }

    /// The rows with the seals that those of them have that count and that another generation has sealed:
    /// the present one and the next.
    pub(super) async fn fetch_seals(
        self,
        rows: Rows<impl PgExecutor<'_>>,
    ) -> sqlx::Result<Vec<RenewedSeal>> {
        let read = self.read(rows.executor).await?.into_iter();
        let seals = read.map(|read| read.renewed(&rows.seals));
        seals.collect()
    }

    async fn read(self, executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<Read<R>>> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (columns, table, rest) = (columns_of::<R>(), R::TABLE, self.rest);
        let entries = entries_of(table, R::LOSES);
        let sql = format!("SELECT {columns}, seal, {ENTRIES} FROM {table} {entries} {rest}");
        let read = sqlx::query_as_with::<_, Read<R>, _>(AssertSqlSafe(sql), self.arguments);
        read.fetch_all(executor).await
    }

    /// Locks the rows, and then reads the valid resources by their identifiers. `lock` is the strength of
    /// the lock. What a transaction before this one has changed is seen, because it is read after the lock.
    pub(crate) async fn lock_all(
        self,
        lock: &'static str,
        mut rows: Rows<&mut PgConnection>,
    ) -> sqlx::Result<Vec<R>> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let sql = format!("SELECT id FROM {} {} {lock}", R::TABLE, self.rest);
        let locked = sqlx::query_scalar_with::<_, Uuid, _>(AssertSqlSafe(sql), self.arguments);
        let locked = locked.fetch_all(&mut *rows.executor).await?;
        if locked.is_empty() {
            return Ok(Vec::new());
        }
        select("WHERE id = ANY ($1) ORDER BY id").bind(locked).fetch_all(rows.again()).await
    }

    /// Locks the rows against changes and reads the first valid resource.
    pub async fn lock(self, rows: Rows<&mut PgConnection>) -> sqlx::Result<Option<R>> {
        Ok(self.lock_all("FOR UPDATE", rows).await?.into_iter().next())
    }
}

/// A row that may be invalid.
#[derive(Clone, Debug)]
pub struct Marked<R> {
    /// Its identifier.
    pub id: Uuid,
    /// The resource. None where a column does not have a value of its type; then the row is invalid.
    pub resource: Option<R>,
    /// Whether it counts.
    pub is_valid: bool,
}

/// A row with its seal and its next one, if it needs another.
pub(super) struct RenewedSeal {
    pub(super) id: Uuid,
    pub(super) renewed: Option<(Vec<u8>, Vec<u8>)>,
}

fn columns_of<R: Stored>() -> String {
    let columns = R::COLUMNS.iter().copied().flatten();
    let columns: Vec<&str> = columns.map(|name| column_name(name)).collect();
    columns.join(", ")
}

/// A row that was not judged yet.
struct Read<R> {
    id: Uuid,
    /// None where a column does not have a value of its type.
    resource: Option<R>,
    seal: Option<Vec<u8>>,
    entries: Entries,
}

impl<'r, R: Stored> FromRow<'r, PgRow> for Read<R> {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            resource: R::from_row(row).ok(),
            seal: row.try_get("seal")?,
            entries: Entries::from_row(row)?,
        })
    }
}

impl<R: Stored> Read<R> {
    fn seal(&self) -> Option<&[u8]> {
        self.seal.as_deref()
    }

    /// The resource as it counts. Of an invalid row the resource as it is.
    fn judged(self, seals: &Seals) -> sqlx::Result<Marked<R>> {
        let id = self.id;
        let Some(resource) = self.resource else {
            seals.note(RowName { table: R::TABLE, id }, Flaw::Forged)?;
            return Ok(Marked { id, resource: None, is_valid: false });
        };
        let columns = resource.columns();
        let of = (resource.revision().number(), (columns.form()?, R::FORMS));
        let taken: Vec<Entry> =
            self.entries.0.iter().copied().filter(|entry| Some(entry.what) == R::LOSES).collect();
        let entries = (R::LOSES, self.entries.0);
        let judged = seals.judge(resource.row(), of, self.seal.as_deref(), entries)?;
        let is_valid = judged.is_ok();
        let resource = match judged {
            Ok(standing) => standing_as(resource, standing),
            // Whoever seals the row gives nothing back.
            Err(_) => deprived(resource, taken),
        };
        Ok(Marked { id, resource: Some(resource), is_valid })
    }

    fn renewed(self, seals: &Seals) -> sqlx::Result<RenewedSeal> {
        let id = self.id;
        let (resource, seal) = (self.resource.clone(), self.seal.clone());
        let is_valid = self.judged(seals)?.is_valid;
        let (Some(resource), Some(seal), true) = (resource, seal, is_valid) else {
            return Ok(RenewedSeal { id, renewed: None });
        };
        let columns = resource.columns();
        let revision = resource.revision().number();
        let form = (columns.form()?, R::FORMS);
        let next = seals.seal(resource.row(), revision, form)?;
        let is_same = generation_of(&seal) == Some(next.generation);
        Ok(RenewedSeal { id, renewed: (!is_same).then_some((seal, next.bytes)) })
    }

    fn unverified(self) -> (Uuid, Option<R>) {
        let resource = self.resource.map(|resource| {
            let revision = resource.revision().number();
            match Standing::of(revision, R::LOSES, self.entries.0) {
                Ok(standing) => standing_as(resource, standing),
                Err(_) => resource,
            }
        });
        (self.id, resource)
    }
}

/// The resource at its newest revision, without what was taken away.
fn standing_as<R: Stored>(resource: R, standing: Standing) -> R {
    deprived(resource.at(Revision::of(standing.newest)), standing.taken)
}

fn deprived<R: Stored>(mut resource: R, taken: Vec<Entry>) -> R {
    for entry in taken {
        resource.deprive(entry.at);
    }
    resource
}
