//! Workload identities in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{Filter, WorkloadIdentity};
use crate::ids::IdentityId;
use crate::management::PageRequest;

/// Reads identities by the names of their columns, so that a migration that adds a column does not
/// invalidate the statements that open connections have prepared.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT i.id, i.name, i.service_id, i.policy_id, i.allowed_operations, i.match, i.status,
                    i.last_used_at, i.revision, i.created_at, i.updated_at, p.policy_number
               FROM identities i LEFT JOIN policies p ON p.id = i.policy_id
              WHERE i.deleted_at IS NULL ",
            $rest
        )
    };
}

pub(super) async fn list(
    database: impl PgExecutor<'_>,
    filter: &Filter,
    page: PageRequest,
) -> sqlx::Result<Vec<WorkloadIdentity>> {
    sqlx::query_as(select!(
        "AND ($1::uuid IS NULL OR i.id > $1)
         AND ($2::uuid IS NULL OR i.service_id = $2)
         AND ($3::text IS NULL OR i.status = $3)
         AND ($4::text IS NULL OR i.name = $4)
         AND ($5::text IS NULL OR position(lower($5) IN lower(i.name)) > 0)
       ORDER BY i.id
       LIMIT $6"
    ))
    .bind(page.after())
    .bind(filter.service_id)
    .bind(filter.status)
    .bind(filter.name.as_deref())
    .bind(filter.name_contains.as_deref())
    .bind(page.rows())
    .fetch_all(database)
    .await
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    id: IdentityId,
) -> sqlx::Result<Option<WorkloadIdentity>> {
    sqlx::query_as(select!("AND i.id = $1"))
        .bind(id)
        .fetch_optional(database)
        .await
}

/// Reads and locks an identity.
pub(super) async fn lock(
    connection: &mut PgConnection,
    id: IdentityId,
) -> sqlx::Result<Option<WorkloadIdentity>> {
    sqlx::query_as(select!("AND i.id = $1 FOR UPDATE OF i"))
        .bind(id)
        .fetch_optional(connection)
        .await
}
