//! How rows are written: sealed, and with an entry of their revision.

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::rows::Rows;
use crate::resource::columns::Columns;
use crate::resource::stored::Stored;
use crate::seals::{OlderRowKey, Seal, What};

/// Inserts the row of a new resource, which another row with the same name refuses.
pub async fn insert<R: Stored>(rows: Rows<&mut PgConnection>, resource: &R) -> sqlx::Result<()> {
    insert_or(rows, resource, What::Made, "").await?;
    Ok(())
}

/// Inserts the row of a new resource, unless it conflicts with another row; whether it did so.
pub(crate) async fn insert_new<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
) -> sqlx::Result<bool> {
    insert_new_as(rows, resource, What::Made).await
}

/// The same with another entry, of a resource that begins without something.
pub(crate) async fn insert_new_as<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    what: What,
) -> sqlx::Result<bool> {
    insert_or(rows, resource, what, "ON CONFLICT DO NOTHING").await
}

async fn insert_or<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    what: What,
    on_conflict: &'static str,
) -> sqlx::Result<bool> {
    let (mut columns, seal) = sealed(&rows, resource)?;
    columns.set_unsealed("id", resource.uuid());
    let inserted = insert_columns(&mut *rows.executor, R::TABLE, columns, on_conflict).await? == 1;
    if inserted {
        note(rows, resource, what, seal).await?;
    }
    Ok(inserted)
}

/// Writes the row of a resource at its new revision, also where it is missing.
pub async fn put<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    what: What,
) -> sqlx::Result<()> {
    let removed = format!("DELETE FROM {} WHERE id = $1", R::TABLE);
    let removed = sqlx::query(AssertSqlSafe(removed)).bind(resource.uuid());
    removed.execute(&mut *rows.executor).await?;
    let (mut columns, seal) = sealed(&rows, resource)?;
    columns.set_unsealed("id", resource.uuid());
    insert_columns(&mut *rows.executor, R::TABLE, columns, "").await?;
    note(rows, resource, what, seal).await
}

/// Writes a changed resource at its new revision.
pub async fn update<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    what: What,
) -> sqlx::Result<()> {
    let (columns, seal) = sealed(&rows, resource)?;
    update_columns(&mut *rows.executor, R::TABLE, columns, resource.uuid()).await?;
    note(rows, resource, what, seal).await
}

/// The columns of a resource with its seal, and the seal.
fn sealed<R: Stored>(
    rows: &Rows<&mut PgConnection>,
    resource: &R,
) -> sqlx::Result<(Columns, Seal)> {
    let mut columns = resource.columns();
    let revision = resource.revision().number();
    let form = (columns.form()?, R::FORMS);
    let seal = rows.seals.seal(resource.row(), revision, form)?;
    columns.set_unsealed("seal", seal.bytes.clone());
    Ok((columns, seal))
}

/// Adds an entry to the table `revisions`, unless a newer generation of the row key seals by now.
async fn note<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: &R,
    what: What,
    seal: Seal,
) -> sqlx::Result<()> {
    let noted = sqlx::query(
        "INSERT INTO revisions (table_name, id, revision, what, content, kept_seal)
         SELECT $1, $2, $3, $4, $5, $6
          WHERE NOT EXISTS (SELECT FROM row_keys WHERE generation > $7)",
    )
    .bind(R::TABLE)
    .bind(resource.uuid())
    .bind(resource.revision())
    .bind(what)
    .bind(seal.content)
    .bind(seal.bytes)
    .bind(i64::from(seal.generation))
    .execute(rows.executor)
    .await?;
    if noted.rows_affected() == 0 {
        rows.seals.refresh().await;
        return Err(OlderRowKey.into());
    }
    Ok(())
}

async fn insert_columns(
    connection: &mut PgConnection,
    table: &'static str,
    columns: Columns,
    on_conflict: &'static str,
) -> sqlx::Result<u64> {
    let (names, arguments) = columns.finish()?;
    let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({}) {on_conflict}",
        names.join(", "),
        places.join(", ")
    );
    let inserted = sqlx::query_with(AssertSqlSafe(sql), arguments);
    Ok(inserted.execute(connection).await?.rows_affected())
}

async fn update_columns(
    connection: &mut PgConnection,
    table: &'static str,
    mut columns: Columns,
    id: Uuid,
) -> sqlx::Result<()> {
    columns.set_unsealed("id", id);
    let (mut names, arguments) = columns.finish()?;
    let id = names.len();
    names.pop();
    let sets: Vec<String> =
        (1..).zip(names).map(|(place, name)| format!("{name} = ${place}")).collect();
    let sql = format!("UPDATE {table} SET {} WHERE id = ${id}", sets.join(", "));
    let updated = sqlx::query_with(AssertSqlSafe(sql), arguments);
    updated.execute(connection).await?;
    Ok(())
}
