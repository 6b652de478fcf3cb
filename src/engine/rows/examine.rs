//! The examination of the seals of all rows.

use sqlx::PgConnection;

use super::kinds::each_kind;
use crate::db::Pool;
use crate::resource::{Rows, SeenRow, Stored as _, examine, is_there, missing, seen};
use crate::seals::RowName;

/// Examines every sealed row. A kind that cannot be read does not hide the others.
pub async fn examine_all(pool: &Pool) -> sqlx::Result<()> {
    let rows = pool.rows();
    let mut examined = Ok(());
    each_kind!(R => examined = examined.and(examine::<R, _>(&rows).await));
    examined
}

/// Every row that does not count or that `also` names, as far as it can be sealed.
pub async fn invalid_rows(
    mut rows: Rows<&mut PgConnection>,
    also: &[RowName],
) -> sqlx::Result<Vec<SeenRow>> {
    let mut found = Vec::new();
    each_kind!(R => found.extend(seen::<R>(rows.again(), also).await?));
    Ok(found)
}

/// Every row that entries or `also` name and that is not there.
pub async fn missing_rows(
    connection: &mut PgConnection,
    also: &[RowName],
) -> sqlx::Result<Vec<RowName>> {
    let mut found = Vec::new();
    each_kind!(R => {
        let mut ids = missing::<R>(&mut *connection, None).await?;
        for row in also.iter().filter(|row| row.table == R::TABLE) {
            if !ids.contains(&row.id) && !is_there::<R>(&mut *connection, row.id).await? {
                ids.push(row.id);
            }
        }
        found.extend(ids.into_iter().map(|id| RowName { table: R::TABLE, id }));
    });
    Ok(found)
}
