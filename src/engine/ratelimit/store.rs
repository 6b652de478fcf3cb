//! The number of instances, counted in Postgres.

use crate::catalog;
use crate::db::Pool;

/// The connections for change notifications: one per running instance.
pub(super) async fn instances(db: &Pool) -> Result<u32, sqlx::Error> {
    let sql = "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND starts_with(application_name, $1)";
    let count: i64 = sqlx::query_scalar(sql).bind(catalog::LISTENER).fetch_one(db).await?;
    Ok(u32::try_from(count.max(1)).unwrap_or(u32::MAX))
}
