//! Seals rows again under another generation of the row key. Nothing else of them changes.

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::rows::Rows;
use super::select::select;
use crate::resource::stored::Stored;

/// The number of rows in one statement.
const PAGE: i64 = 500;

/// Seals the rows of one kind that count and that another generation has sealed. Returns their number. A row
/// that changes meanwhile is left to the next call.
pub async fn renew<R: Stored + Send + Unpin>(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<u64> {
    let (mut after, mut renewed) = (Uuid::nil(), 0);
    loop {
        let page = select::<R>("WHERE id > $1 ORDER BY id LIMIT $2").bind(after).bind(PAGE);
        let page = page.fetch_seals(rows.again()).await?;
        let Some(last) = page.last() else {
            return Ok(renewed);
        };
        after = last.id;
        let (mut ids, mut old, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for seal in page.into_iter().filter_map(|row| Some((row.id, row.renewed?))) {
            let (id, (former, renewed)) = seal;
            ids.push(id);
            old.push(former);
            new.push(renewed);
        }
        let sql = format!(
            "UPDATE {table} SET seal = renewed.new
               FROM UNNEST($1::uuid[], $2::bytea[], $3::bytea[]) AS renewed (id, old, new)
              WHERE {table}.id = renewed.id AND {table}.seal = renewed.old",
            table = R::TABLE
        );
        let updated = sqlx::query(AssertSqlSafe(sql)).bind(ids).bind(old).bind(new);
        renewed += updated.execute(&mut *rows.executor).await?.rows_affected();
    }
}
