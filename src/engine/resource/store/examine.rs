//! Examines rows that no request reads.

use std::collections::HashSet;

use sqlx::{AssertSqlSafe, PgExecutor};
use uuid::Uuid;

use super::rows::Rows;
use super::select::select;
use crate::resource::stored::Stored;
use crate::seals::{Flaw, RowName, What};

/// Examines every row of one kind, so that those that do not count are findings. A first entry that freezes
/// belongs to a row that does not exist yet.
pub async fn examine<'p, R: Stored + Send + Unpin, E: PgExecutor<'p> + Copy>(
    rows: &Rows<E>,
) -> sqlx::Result<()> {
    let mut invalid = HashSet::new();
    let mut after = Uuid::nil();
    loop {
        let page = select::<R>("WHERE id > $1 ORDER BY id LIMIT 1000").bind(after);
        let page = page.fetch_marked(rows.clone()).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        invalid.extend(page.iter().filter(|marked| !marked.is_valid).map(|marked| marked.id));
    }
    let table = R::TABLE;
    let missing: Vec<Uuid> = sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT id FROM (SELECT DISTINCT ON (id) id, revision, what FROM revisions
                          WHERE table_name = '{table}' ORDER BY id, revision DESC) AS newest
          WHERE (what <> $1 OR $2) AND (what <> $3 OR revision > 1) AND NOT EXISTS (SELECT FROM {table} WHERE {table}.id = newest.id)"
    )))
    .bind(What::Gone)
    .bind(R::IS_KEPT)
    .bind(What::Frozen)
    .fetch_all(rows.executor)
    .await?;
    for id in missing {
        rows.seals.note(RowName { table, id }, Flaw::Missing)?;
        invalid.insert(id);
    }
    rows.seals.retain(table, &invalid);
    Ok(())
}
