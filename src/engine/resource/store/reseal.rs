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
    FURTHEST, Form, NoRowKey, RowName, SinceSealed, What, newest_entry, since_sealed,
};

/// A row as an operator saw it.
#[derive(Clone, Debug)]
pub struct SeenRow {
    /// Its name.
    pub row: RowName,
    /// What it is, compared with what it was when it was last sealed.
    pub since: SinceSealed,
    form: Form,
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
    let key = rows.seals.current().ok_or(NoRowKey)?;
    let since = since_sealed(rows.executor, &key, (R::TABLE, &forms)).await?;
    let shown = seen.iter().map(|resource| {
        let since = since.get(&resource.uuid()).copied().unwrap_or(SinceSealed::Unknown);
        Ok(SeenRow { row: resource.row(), since, form: form_of(resource)? })
    });
    shown.collect()
}

fn form_of<R: Stored>(resource: &R) -> sqlx::Result<Form> {
    Ok(resource.columns().form()?.clone())
}

/// Seals those of these rows that are of one kind, each at a revision of its own, without what their newest entries took
/// away. Returns the rows that were
/// changed since they were seen: whoever writes to the database could change them while the operator reads.
pub async fn reseal<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
    seen: &[SeenRow],
) -> sqlx::Result<Vec<RowName>> {
    let mut changed = Vec::new();
    for SeenRow { row, form, .. } in seen.iter().filter(|seen| seen.row.table == R::TABLE) {
        lock_row(&mut *rows.executor, *row).await?;
        let found = select::<R>("WHERE id = $1").bind(row.id);
        let found = found.fetch_marked(rows.again()).await?.into_iter().next();
        let Some(mut resource) = found.and_then(|marked| marked.resource) else {
            changed.push(*row);
            continue;
        };
        if form_of(&resource)? != *form {
            changed.push(*row);
            continue;
        }
        let newest = newest_entry(&mut *rows.executor, *row).await?;
        // What it took away does not come back, whatever the row says.
        if let Some(entry) = &newest
            && R::LOSES == Some(entry.what)
        {
            resource.deprive(entry.at);
        }
        let newest = newest.map_or(0, |entry| entry.revision);
        // That of the row can be forged, and the table admits no revision so far away.
        let own = resource.revision().number().min(newest.saturating_add(FURTHEST - 1));
        let resource = resource.at(Revision::of(newest.max(own)).next());
        update(rows.again(), &resource, What::Changed).await?;
    }
    Ok(changed)
}

async fn lock_row(connection: &mut PgConnection, row: RowName) -> sqlx::Result<()> {
    let sql = format!("SELECT FROM {} WHERE id = $1 FOR UPDATE", row.table);
    sqlx::query(AssertSqlSafe(sql)).bind(row.id).execute(connection).await?;
    Ok(())
}
