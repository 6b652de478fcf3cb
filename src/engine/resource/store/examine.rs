//! Examines rows that no request reads.

use std::collections::HashSet;

use sqlx::{AssertSqlSafe, PgExecutor};
use uuid::Uuid;

use super::rows::Rows;
use super::select::select;
use crate::resource::stored::Stored;
use crate::seals::{Flaw, RowName, What};

/// The number of rows in one statement. A row of the largest kind, a change, has two megabytes at most.
const PAGE: i64 = 50;

/// The number of missing rows of one kind that are found. Whoever writes to the database can name millions.
const MOST_MISSING: i64 = 1_000;

/// Examines every row of one kind, so that those that do not count are findings.
pub async fn examine<'p, R: Stored + Send + Unpin, E: PgExecutor<'p> + Copy>(
    rows: &Rows<E>,
) -> sqlx::Result<()> {
    let mut invalid = HashSet::new();
    let mut after = Uuid::nil();
    loop {
        let page = select::<R>("WHERE id > $1 ORDER BY id LIMIT $2").bind(after).bind(PAGE);
        let page = page.fetch_marked(rows.clone()).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        invalid.extend(page.iter().filter(|marked| !marked.is_valid).map(|marked| marked.id));
    }
    for id in missing::<R>(rows.executor, Some(MOST_MISSING)).await? {
        rows.seals.note(RowName { table: R::TABLE, id }, Flaw::Missing)?;
        invalid.insert(id);
    }
    rows.seals.retain(R::TABLE, &invalid);
    Ok(())
}

/// The first rows of one kind, at most this number, that entries name and that are not there, unless an operator has
/// accepted it. An entry that freezes everything names no missing row: the switch has no row before somebody uses it in
/// the API.
pub async fn missing<R: Stored>(
    executor: impl PgExecutor<'_>,
    most: Option<i64>,
) -> sqlx::Result<Vec<Uuid>> {
    let table = R::TABLE;
    let groups: Vec<&str> = R::GROUPS.iter().map(|group| group.name).collect();
    sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT id FROM (SELECT DISTINCT ON (id) id, revision, what, accepted FROM revisions
                          WHERE table_name = '{table}' ORDER BY id, revision DESC) AS newest
          WHERE NOT accepted AND (what <> $1 OR $2) AND (what <> $3 OR NOT $4)
            AND NOT EXISTS (SELECT FROM {table} WHERE {table}.id = newest.id)
          UNION
         SELECT member FROM revisions
          WHERE table_name = ANY ($5) AND member IS NOT NULL
            AND NOT EXISTS (SELECT FROM {table} WHERE {table}.id = revisions.member)
            AND NOT EXISTS (SELECT FROM revisions AS own
                             WHERE own.table_name = '{table}' AND own.id = revisions.member)
          ORDER BY 1 LIMIT $6"
    )))
    .bind(What::Gone)
    .bind(R::IS_KEPT)
    .bind(What::Frozen)
    .bind(R::IS_LOST_BEFORE_MADE)
    .bind(groups)
    .bind(most)
    .fetch_all(executor)
    .await
}

/// Whether there is a row with this identifier, valid or not.
pub async fn is_there<R: Stored>(executor: impl PgExecutor<'_>, id: Uuid) -> sqlx::Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT FROM {} WHERE id = $1)", R::TABLE);
    sqlx::query_scalar(AssertSqlSafe(sql)).bind(id).fetch_one(executor).await
}
