//! API keys in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{ApiKey, ApiKeyFilter, ApiKeyStatus};
use crate::auth::{ApiKeyType, Person};
use crate::ids::ApiKeyId;
use crate::management::PageRequest;
use crate::resource::{Rows, select};
use formats::clock::Timestamp;

pub(super) async fn list(
    rows: Rows<impl PgExecutor<'_>>,
    now: Timestamp,
    filter: &ApiKeyFilter,
    with_admin_keys: bool,
    page: PageRequest,
) -> sqlx::Result<Vec<ApiKey>> {
    let listed: Vec<ApiKey> = select(
        "WHERE ($2::uuid IS NULL OR id > $2)
           AND ($3::uuid IS NULL OR service_id = $3)
           AND ($4::text IS NULL OR type = $4)
           AND ($5::text IS NULL OR $5 = CASE WHEN revoked_at IS NOT NULL THEN $6
                                              WHEN expires_at <= $1 THEN $7
                                              ELSE $8 END)
           AND ($9::text IS NULL OR name = $9)
           AND ($10::text IS NULL OR position(lower($10) IN lower(name)) > 0)
           AND ($11 OR type <> 'admin')
         ORDER BY id
         LIMIT $12",
    )
    .bind(now)
    .bind(page.after())
    .bind(filter.service_id)
    .bind(filter.kind)
    .bind(filter.status)
    .bind(ApiKeyStatus::Revoked)
    .bind(ApiKeyStatus::Expired)
    .bind(ApiKeyStatus::Active)
    .bind(filter.name.as_deref())
    .bind(filter.name_contains.as_deref())
    .bind(with_admin_keys)
    .bind(page.rows())
    .fetch_listed(rows)
    .await?;
    Ok(listed.into_iter().map(|api_key| api_key.with_status_at(now)).collect())
}

pub(super) async fn read(
    rows: Rows<impl PgExecutor<'_>>,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKey>> {
    let found: Option<ApiKey> = select("WHERE id = $1").bind(id).fetch_optional(rows).await?;
    Ok(found.map(|api_key| api_key.with_status_at(now)))
}

/// Reads and locks an API key.
pub(super) async fn lock(
    rows: Rows<&mut PgConnection>,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKey>> {
    let found: Option<ApiKey> = select("WHERE id = $1").bind(id).lock(rows).await?;
    Ok(found.map(|api_key| api_key.with_status_at(now)))
}

/// The type of an API key, which never changes.
pub(super) async fn kind(
    connection: &mut PgConnection,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKeyType>> {
    sqlx::query_scalar("SELECT type FROM api_keys WHERE id = $1")
        .bind(id)
        .fetch_optional(connection)
        .await
}

/// Whether a person with this subject signed in at this issuer.
pub(super) async fn is_confirmed(
    rows: Rows<&mut PgConnection>,
    issuer: &str,
    subject: &str,
) -> sqlx::Result<bool> {
    let found = select::<Person>("WHERE issuer = $1 AND subject = $2 AND is_confirmed");
    let found = found.bind(issuer).bind(subject).fetch_optional(rows).await?;
    Ok(found.is_some())
}
