//! Policies in the database, as the runtime reads them.

use sqlx::PgExecutor;

use super::Policy;
use super::policies::Name;

/// The policy of that name that is not deleted.
pub(super) async fn named(
    database: impl PgExecutor<'_>,
    name: &Name,
) -> sqlx::Result<Option<Policy>> {
    let (id, number) = match name {
        Name::Id(id) => (Some(*id), None),
        Name::Number(number) => (None, Some(number)),
    };
    let sql = "SELECT * FROM policies WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)";
    sqlx::query_as(sql)
        .bind(id)
        .bind(number)
        .fetch_optional(database)
        .await
}
