//! Policies in the database, as the runtime reads them.

use sqlx::PgExecutor;

use super::{Policy, PolicyName};
use crate::ids::PolicyId;
use crate::resource::select;

/// The policy of that name that is not deleted.
pub(super) async fn named(
    database: impl PgExecutor<'_>,
    name: &PolicyName,
) -> sqlx::Result<Option<Policy>> {
    let (id, number) = name.parts();
    select("WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)")
        .bind(id)
        .bind(number)
        .fetch_optional(database)
        .await
}

/// The policy with this identifier. The row of a deleted policy keeps its last state.
pub(super) async fn known(
    database: impl PgExecutor<'_>,
    id: PolicyId,
) -> sqlx::Result<Option<Policy>> {
    select("WHERE id = $1").bind(id).fetch_optional(database).await
}
