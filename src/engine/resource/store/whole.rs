//! All rows of a kind, or none.

use sqlx::PgConnection;

use super::rows::Rows;
use super::select::select;
use crate::resource::stored::Stored;
use crate::seals::ever_made;

/// The rows of a kind by their identifiers; none while one that was ever made does not count.
pub(crate) async fn fetch_whole<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<Option<Vec<R>>> {
    let valid: Vec<R> = select("ORDER BY id").fetch_all(rows.again()).await?;
    let made = ever_made(rows.executor, R::TABLE).await?;
    let is_whole = made.iter().all(|id| valid.iter().any(|row| row.uuid() == *id));
    Ok(is_whole.then_some(valid))
}
