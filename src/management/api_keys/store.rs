//! API keys in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{ApiKey, Filter, Status};
use crate::clock::Timestamp;
use crate::ids::ApiKeyId;
use crate::management::PageRequest;

/// Reads API keys; `$1` is the present. It names the columns, so that a migration that adds a column does
/// not invalidate the statements that open connections have prepared.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT k.id, k.name, k.type, k.service_id, k.policy_id, k.allowed_operations,
                    k.allowed_cidrs, k.last_four, k.expires_at, k.revoked_at, k.last_used_at,
                    k.revision, k.created_at, k.updated_at, p.policy_number, $1 AS now
               FROM api_keys k LEFT JOIN policies p ON p.id = k.policy_id ",
            $rest
        )
    };
}

pub(super) async fn list(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    filter: &Filter,
    page: PageRequest,
) -> sqlx::Result<Vec<ApiKey>> {
    sqlx::query_as(select!(
        "WHERE ($2::uuid IS NULL OR k.id > $2)
           AND ($3::uuid IS NULL OR k.service_id = $3)
           AND ($4::text IS NULL OR k.type = $4)
           AND ($5::text IS NULL OR $5 = CASE WHEN k.revoked_at IS NOT NULL THEN $6
                                              WHEN k.expires_at <= $1 THEN $7
                                              ELSE $8 END)
           AND ($9::text IS NULL OR k.name = $9)
           AND ($10::text IS NULL OR position(lower($10) IN lower(k.name)) > 0)
         ORDER BY k.id
         LIMIT $11"
    ))
    .bind(now)
    .bind(page.after())
    .bind(filter.service_id)
    .bind(filter.kind)
    .bind(filter.status)
    .bind(Status::Revoked)
    .bind(Status::Expired)
    .bind(Status::Active)
    .bind(filter.name.as_deref())
    .bind(filter.name_contains.as_deref())
    .bind(page.rows())
    .fetch_all(database)
    .await
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKey>> {
    sqlx::query_as(select!("WHERE k.id = $2"))
        .bind(now)
        .bind(id)
        .fetch_optional(database)
        .await
}

/// Reads and locks an API key.
pub(super) async fn lock(
    connection: &mut PgConnection,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKey>> {
    sqlx::query_as(select!("WHERE k.id = $2 FOR UPDATE OF k"))
        .bind(now)
        .bind(id)
        .fetch_optional(connection)
        .await
}
