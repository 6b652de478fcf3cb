//! Seals rows that do not count, because an operator says that they are right.

use sqlx::PgConnection;

use super::rows::Rows;
use super::select::select;
use super::write::update;
use crate::resource::stored::Stored;
use crate::revision::Revision;
use crate::seals::{RowName, What, newest_of};

/// Seals every invalid row of one kind at a revision of its own. Returns their names.
pub async fn reseal<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<Vec<RowName>> {
    let mut sealed = Vec::new();
    let marked = select::<R>("ORDER BY id").fetch_marked(rows.again()).await?;
    for invalid in marked.into_iter().filter(|marked| !marked.is_valid) {
        let row = invalid.resource.row();
        let newest = newest_of(&mut *rows.executor, row).await?;
        let newest = newest.unwrap_or_default().max(invalid.resource.revision().number());
        let resource = invalid.resource.at(Revision::of(newest).next());
        update(rows.again(), &resource, What::Changed).await?;
        sealed.push(row);
    }
    Ok(sealed)
}
