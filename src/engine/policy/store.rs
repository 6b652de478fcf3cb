//! Policies in the database, as the runtime reads them.

use sqlx::PgExecutor;

use super::Policy;
use super::policies::Name;
use crate::ids::PolicyId;

/// Selects the columns of a policy by name, so that a migration that adds a column does not invalidate the
/// statements that open connections have prepared.
macro_rules! select_policies {
    ($rest:literal) => {
        concat!(
            "SELECT id, policy_number, name, description, destination_service_id, key_ownership, alg, \
             enc, status, failure_mode, allowed_service_ids, allowed_operations, context_required, \
             require_binding, headers, revision, created_at, updated_at FROM policies ",
            $rest
        )
    };
}

pub(crate) use select_policies;

/// The policy of that name that is not deleted.
pub(super) async fn named(
    database: impl PgExecutor<'_>,
    name: &Name,
) -> sqlx::Result<Option<Policy>> {
    let (id, number) = match name {
        Name::Id(id) => (Some(*id), None),
        Name::Number(number) => (None, Some(number)),
    };
    sqlx::query_as(select_policies!(
        "WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)"
    ))
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
    sqlx::query_as(select_policies!("WHERE id = $1"))
        .bind(id)
        .fetch_optional(database)
        .await
}
