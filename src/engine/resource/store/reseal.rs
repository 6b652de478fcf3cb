//! Seals rows because an operator says that they are right.

use std::collections::HashMap;

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::rows::Rows;
use super::select::{Marked, select};
use super::write::update;
use crate::resource::stored::Stored;
use crate::revision::Revision;
use crate::seals::{
    FURTHEST, NoRowKey, RowForm, RowName, SealComparison, SealHistory, What, accept_absence,
    newest_entry, seal_histories,
};

/// A row as an operator saw it.
#[derive(Clone, Debug)]
pub struct SeenRow {
    /// Its name.
    pub row: RowName,
    /// What it is, compared with what it was when it was last sealed.
    pub comparison: SealComparison,
    /// Whether it ends instead of being sealed.
    pub ends: bool,
    form: RowForm,
}

/// The rows of one kind that do not count or that `also` names. A row with a column that does not have a value of
/// its type cannot be sealed, and is none of them.
pub async fn seen<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
    also: &[RowName],
) -> sqlx::Result<Vec<SeenRow>> {
    let read = select::<R>("ORDER BY id").fetch_with_forms(rows.again()).await?.into_iter();
    let named = RowName { table: R::TABLE, id: Uuid::nil() };
    let is_seen =
        |marked: &Marked<R>| !marked.is_valid || also.contains(&RowName { id: marked.id, ..named });
    let (mut seen, mut forms) = (Vec::new(), HashMap::new());
    for (marked, form) in read.filter(|(marked, _)| is_seen(marked)) {
        if let (Some(resource), Some(form)) = (marked.resource, form) {
            seen.push(resource);
            forms.insert(marked.id, form);
        }
    }
    let histories = histories::<R>(rows, &forms).await?;
    let shown = seen.into_iter().map(|mut resource| {
        let comparison = deprive(&mut resource, &histories);
        let (row, form) = (resource.row(), form_of(&resource)?);
        let ends = resealed(resource, comparison).is_none();
        Ok(SeenRow { row, comparison, ends, form })
    });
    shown.collect()
}

/// What entries say about rows that have these forms in the database.
async fn histories<R: Stored>(
    rows: Rows<&mut PgConnection>,
    forms: &HashMap<Uuid, RowForm>,
) -> sqlx::Result<HashMap<Uuid, SealHistory>> {
    let key = rows.seals.current().ok_or(NoRowKey)?;
    seal_histories(rows.executor, &key, (R::TABLE, R::LOSES), forms).await
}

/// Takes away what entries took away since the row was last sealed, whatever revision the row says that it has. Returns
/// what the row is, compared with that seal.
fn deprive<R: Stored>(resource: &mut R, histories: &HashMap<Uuid, SealHistory>) -> SealComparison {
    let Some(history) = histories.get(&resource.uuid()) else {
        return SealComparison::Unknown;
    };
    for entry in &history.taken {
        resource.deprive(entry.at);
    }
    history.comparison
}

fn form_of<R: Stored>(resource: &R) -> sqlx::Result<RowForm> {
    Ok(resource.columns().form()?.clone())
}

/// Seals those of these rows that are of one kind, each at a revision of its own, without what entries took away since
/// they were last sealed. Returns the rows that were changed since they were seen: whoever writes to the database could
/// change them while the operator reads.
pub async fn reseal<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
    seen: &[SeenRow],
) -> sqlx::Result<Vec<RowName>> {
    let mut changed = Vec::new();
    for SeenRow { row, comparison: shown, form, .. } in
        seen.iter().filter(|seen| seen.row.table == R::TABLE)
    {
        lock_row(&mut *rows.executor, *row).await?;
        let found = select::<R>("WHERE id = $1").bind(row.id);
        let found = found.fetch_with_forms(rows.again()).await?.into_iter().next();
        let found = found.and_then(|(marked, form)| marked.resource.zip(form));
        let Some((mut resource, own)) = found else {
            changed.push(*row);
            continue;
        };
        let own = HashMap::from([(row.id, own)]);
        let comparison = deprive(&mut resource, &histories::<R>(rows.again(), &own).await?);
        match form_of(&resource)? == *form && comparison == *shown {
            true => seal(rows.again(), resource, comparison).await?,
            false => changed.push(*row),
        }
    }
    Ok(changed)
}

/// Seals a row, or ends it if nobody can know whether it is right.
async fn seal<R: Stored>(
    rows: Rows<&mut PgConnection>,
    resource: R,
    comparison: SealComparison,
) -> sqlx::Result<()> {
    let row = resource.row();
    let newest = newest_entry(&mut *rows.executor, row).await?;
    let newest = newest.map_or(0, |entry| entry.revision);
    // That of the row can be forged, and the table admits no revision so far away.
    let own = resource.revision().number().min(newest.saturating_add(FURTHEST - 1));
    let next = Revision::of(newest.max(own)).next();
    match resealed(resource, comparison) {
        Some(resource) => update(rows, &resource.at(next), What::Changed).await,
        None => end(rows.executor, row).await,
    }
}

/// What can be sealed of a row.
fn resealed<R: Stored>(resource: R, comparison: SealComparison) -> Option<R> {
    if comparison == SealComparison::Same { Some(resource) } else { resource.resealed(comparison) }
}

/// Deletes a row, so that nobody puts it back.
async fn end(connection: &mut PgConnection, row: RowName) -> sqlx::Result<()> {
    let sql = format!("DELETE FROM {} WHERE id = $1", row.table);
    sqlx::query(AssertSqlSafe(sql)).bind(row.id).execute(&mut *connection).await?;
    accept_absence(connection, row).await
}

async fn lock_row(connection: &mut PgConnection, row: RowName) -> sqlx::Result<()> {
    let sql = format!("SELECT FROM {} WHERE id = $1 FOR UPDATE", row.table);
    sqlx::query(AssertSqlSafe(sql)).bind(row.id).execute(connection).await?;
    Ok(())
}
