//! API keys in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{ApiKey, ApiKeyFilter, ApiKeyStatus};
use crate::auth::{ApiKeyType, Person, Role};
use crate::ids::ApiKeyId;
use crate::management::PageRequest;
use crate::resource::{Rows, select};
use formats::clock::Timestamp;

/// The advisory lock of transactions that change admin keys.
const ADMIN_KEYS: i64 = 0x5ea1_3a8d_0026;

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

/// Waits for other transactions that change admin keys. Two of them could otherwise remove the last two
/// owners, or wait for each other: each holds the key that it changes, and its event refers to the key of
/// its author.
pub(super) async fn lock_admin_keys(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(ADMIN_KEYS).execute(connection).await?;
    Ok(())
}

/// Whether an owner key other than this one is neither revoked nor expired at `now`.
pub(super) async fn has_other_owner(
    rows: Rows<&mut PgConnection>,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<bool> {
    let owners = select("WHERE id <> $1 AND $2 = ANY (roles) AND revoked_at IS NULL");
    let owners: Vec<ApiKey> = owners.bind(id).bind(Role::Owner).fetch_all(rows).await?;
    Ok(owners.iter().any(|owner| owner.is_active_at(now)))
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
