//! Policies in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{Filter, Name, Policy};
use crate::clock::Timestamp;
use crate::db::undecodable;
use crate::ids::{ApiKeyId, PolicyId};
use crate::management::PageRequest;
use crate::policy::PolicyNumber;

pub(super) async fn list(
    database: impl PgExecutor<'_>,
    filter: &Filter,
    page: PageRequest,
) -> sqlx::Result<Vec<Policy>> {
    sqlx::query_as(
        "SELECT * FROM policies
          WHERE deleted_at IS NULL
            AND ($1::uuid IS NULL OR id > $1)
            AND ($2::text IS NULL OR status = $2)
            AND ($3::uuid IS NULL OR destination_service_id = $3)
            AND ($4::text IS NULL OR position(lower($4) IN lower(policy_number || ' ' || name)) > 0)
          ORDER BY id
          LIMIT $5",
    )
    .bind(page.after())
    .bind(filter.status)
    .bind(filter.destination_service_id)
    .bind(filter.text.as_deref())
    .bind(page.rows())
    .fetch_all(database)
    .await
}

pub(super) async fn choices(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<(String, String)>> {
    sqlx::query_as(
        "SELECT policy_number, name FROM policies WHERE deleted_at IS NULL ORDER BY policy_number",
    )
    .fetch_all(database)
    .await
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    name: &Name,
) -> sqlx::Result<Option<Policy>> {
    let (id, number) = name.parts();
    sqlx::query_as(
        "SELECT * FROM policies WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)",
    )
    .bind(id)
    .bind(number)
    .fetch_optional(database)
    .await
}

/// Reads a policy and keeps all others from changing or newly referring to it.
pub(super) async fn lock(
    connection: &mut PgConnection,
    name: &Name,
) -> sqlx::Result<Option<Policy>> {
    let (id, number) = name.parts();
    sqlx::query_as(
        "SELECT * FROM policies
          WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)
            FOR UPDATE",
    )
    .bind(id)
    .bind(number)
    .fetch_optional(connection)
    .await
}

/// The living policy with that number, which goes on living until the transaction ends, so it can be
/// referred to. (A foreign key would be content with a tombstone.)
pub(in crate::management) async fn lock_living(
    connection: &mut PgConnection,
    number: &PolicyNumber,
) -> sqlx::Result<Option<PolicyId>> {
    sqlx::query_scalar(
        "SELECT id FROM policies WHERE policy_number = $1 AND deleted_at IS NULL FOR SHARE",
    )
    .bind(number.as_str())
    .fetch_optional(connection)
    .await
}

pub(super) async fn next_number(connection: &mut PgConnection) -> sqlx::Result<PolicyNumber> {
    let number: i64 = sqlx::query_scalar("SELECT nextval('policy_numbers')")
        .fetch_one(connection)
        .await?;
    format!("POL-{number:06}").parse().map_err(undecodable)
}

/// Inserts a policy; says whether its number was free.
pub(super) async fn insert(connection: &mut PgConnection, policy: &Policy) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO policies (id, policy_number, name, description, destination_service_id,
                               key_ownership, alg, enc, status, failure_mode, allowed_service_ids,
                               allowed_operations, revision, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
             ON CONFLICT (policy_number) WHERE deleted_at IS NULL DO NOTHING",
    )
    .bind(policy.id)
    .bind(&policy.policy_number)
    .bind(&policy.name)
    .bind(&policy.description)
    .bind(policy.destination_service_id)
    .bind(policy.key_ownership)
    .bind(policy.alg)
    .bind(policy.enc)
    .bind(policy.status)
    .bind(policy.failure_mode)
    .bind(&policy.allowed_service_ids)
    .bind(policy.allowed_operations)
    .bind(policy.revision)
    .bind(policy.created_at)
    .bind(policy.updated_at)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub(super) async fn update(connection: &mut PgConnection, policy: &Policy) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE policies
            SET policy_number = $2, name = $3, description = $4, destination_service_id = $5,
                key_ownership = $6, alg = $7, enc = $8, status = $9, failure_mode = $10,
                allowed_service_ids = $11, allowed_operations = $12, revision = $13,
                updated_at = $14
          WHERE id = $1",
    )
    .bind(policy.id)
    .bind(&policy.policy_number)
    .bind(&policy.name)
    .bind(&policy.description)
    .bind(policy.destination_service_id)
    .bind(policy.key_ownership)
    .bind(policy.alg)
    .bind(policy.enc)
    .bind(policy.status)
    .bind(policy.failure_mode)
    .bind(&policy.allowed_service_ids)
    .bind(policy.allowed_operations)
    .bind(policy.revision)
    .bind(policy.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

/// The API keys that are bound to a policy and not revoked, each as people know it.
pub(super) async fn referrers(
    connection: &mut PgConnection,
    id: PolicyId,
) -> sqlx::Result<Vec<String>> {
    let api_keys: Vec<(ApiKeyId, String)> = sqlx::query_as(
        "SELECT id, name FROM api_keys WHERE policy_id = $1 AND revoked_at IS NULL ORDER BY id",
    )
    .bind(id)
    .fetch_all(connection)
    .await?;
    let named = api_keys
        .into_iter()
        .map(|(id, name)| format!("API key {name:?} ({id})"));
    Ok(named.collect())
}

pub(super) async fn bury(
    connection: &mut PgConnection,
    id: PolicyId,
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query("UPDATE policies SET deleted_at = $2, revision = revision + 1 WHERE id = $1")
        .bind(id)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}

impl Name {
    fn parts(&self) -> (Option<PolicyId>, Option<&str>) {
        match self {
            Self::Id(id) => (Some(*id), None),
            Self::Number(number) => (None, Some(number.as_str())),
        }
    }
}
