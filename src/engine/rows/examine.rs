//! The examination of the seals of all rows.

use sqlx::PgConnection;

use super::kinds::each_kind;
use crate::db::Pool;
use crate::resource::{Rows, SeenRow, examine, seen};
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
