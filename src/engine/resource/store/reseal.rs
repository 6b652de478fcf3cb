//! Seals rows that do not count, because an operator says that they are right.

use sqlx::PgConnection;

use super::rows::Rows;
use super::select::select;
use super::write::update;
use crate::resource::stored::Stored;
use crate::revision::Revision;
use crate::seals::{Form, RowName, What, newest_entry};

/// A row that does not count, as an operator saw it.
#[derive(Clone, Debug)]
pub struct InvalidRow {
    /// Its name.
    pub row: RowName,
    form: Form,
}

/// The invalid rows of one kind. A row with a column that does not have a value of its type cannot be sealed,
/// and is none of them.
pub async fn invalid<R: Stored + Send + Unpin>(
    rows: Rows<&mut PgConnection>,
) -> sqlx::Result<Vec<InvalidRow>> {
    let marked = select::<R>("ORDER BY id").fetch_marked(rows).await?.into_iter();
    let invalid = marked.filter(|marked| !marked.is_valid).filter_map(|marked| marked.resource);
    invalid.map(|resource| shown(&resource)).collect()
}

fn shown<R: Stored>(resource: &R) -> sqlx::Result<InvalidRow> {
    Ok(InvalidRow { row: resource.row(), form: resource.columns().form()?.clone() })
}

/// Seals those of these rows that are of one kind, each at a revision of its own. Returns the rows that were
/// changed since they were seen: whoever writes to the database could change them while the operator reads.
pub async fn reseal<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
    seen: &[InvalidRow],
) -> sqlx::Result<Vec<RowName>> {
    let mut changed = Vec::new();
    for InvalidRow { row, form } in seen.iter().filter(|seen| seen.row.table == R::TABLE) {
        let found = select::<R>("WHERE id = $1 FOR UPDATE").bind(row.id);
        let found = found.fetch_marked(rows.again()).await?.into_iter().next();
        let Some(resource) = found.and_then(|marked| marked.resource) else {
            changed.push(*row);
            continue;
        };
        if shown(&resource)?.form != *form {
            changed.push(*row);
            continue;
        }
        let newest = newest_entry(&mut *rows.executor, *row).await?;
        let newest = newest.map_or(0, |entry| entry.revision).max(resource.revision().number());
        let resource = resource.at(Revision::of(newest).next());
        update(rows.again(), &resource, What::Changed).await?;
    }
    Ok(changed)
}
