//! API keys in the database, as administrators see them.

use sqlx::{FromRow, PgConnection, PgExecutor};

use super::api_key::hint;
use super::{ApiKey, Filter, Status};
use crate::auth::{AtRest, Kind};
use crate::clock::Timestamp;
use crate::db::undecodable;
use crate::ids::{ApiKeyId, PolicyId, ServiceId};
use crate::management::{PageRequest, Revision};
use crate::operation::Operations;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT k.id, k.name, k.type AS kind, k.service_id, k.policy_id, p.policy_number,
                    k.allowed_operations, k.allowed_cidrs::text[] AS allowed_cidrs, k.last_four,
                    k.expires_at, k.revoked_at, k.last_used_at, k.revision, k.created_at,
                    k.updated_at
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
    let rows: Vec<ApiKeyRow> = sqlx::query_as(select!(
        "WHERE ($1::uuid IS NULL OR k.id > $1)
           AND ($2::uuid IS NULL OR k.service_id = $2)
           AND ($3::text IS NULL OR k.type = $3)
           AND ($4::text IS NULL OR $4 = CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
                                              WHEN k.expires_at <= $5 THEN 'expired'
                                              ELSE 'active' END)
           AND ($6::text IS NULL OR position(lower($6) IN lower(k.name)) > 0)
         ORDER BY k.id
         LIMIT $7"
    ))
    .bind(page.after())
    .bind(filter.service_id)
    .bind(filter.kind)
    .bind(filter.status)
    .bind(now)
    .bind(filter.name.as_deref())
    .bind(page.rows())
    .fetch_all(database)
    .await?;
    rows.into_iter().map(|row| row.at(now)).collect()
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKey>> {
    let row: Option<ApiKeyRow> = sqlx::query_as(select!("WHERE k.id = $1"))
        .bind(id)
        .fetch_optional(database)
        .await?;
    row.map(|row| row.at(now)).transpose()
}

/// Reads an API key and keeps all others from changing it.
pub(super) async fn lock(
    connection: &mut PgConnection,
    now: Timestamp,
    id: ApiKeyId,
) -> sqlx::Result<Option<ApiKey>> {
    let row: Option<ApiKeyRow> = sqlx::query_as(select!("WHERE k.id = $1 FOR UPDATE OF k"))
        .bind(id)
        .fetch_optional(connection)
        .await?;
    row.map(|row| row.at(now)).transpose()
}

pub(super) async fn insert(
    connection: &mut PgConnection,
    api_key: &ApiKey,
    at_rest: AtRest,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO api_keys (id, name, type, service_id, policy_id, allowed_operations,
                               allowed_cidrs, digest, last_four, expires_at, revision, created_at,
                               updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7::text[]::cidr[], $8, right($9, 4), $10, $11, $12, $13)",
    )
    .bind(api_key.id)
    .bind(&api_key.name)
    .bind(api_key.kind)
    .bind(api_key.service_id)
    .bind(api_key.policy_id)
    .bind(api_key.allowed_operations)
    .bind(api_key.allowed_cidrs.as_deref().map(texts))
    .bind(at_rest.as_bytes().as_slice())
    .bind(&api_key.hint)
    .bind(api_key.expires_at)
    .bind(api_key.revision)
    .bind(api_key.created_at)
    .bind(api_key.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn update(connection: &mut PgConnection, api_key: &ApiKey) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE api_keys
            SET name = $2, policy_id = $3, allowed_operations = $4,
                allowed_cidrs = $5::text[]::cidr[], expires_at = $6, revoked_at = $7,
                revision = $8, updated_at = $9
          WHERE id = $1",
    )
    .bind(api_key.id)
    .bind(&api_key.name)
    .bind(api_key.policy_id)
    .bind(api_key.allowed_operations)
    .bind(api_key.allowed_cidrs.as_deref().map(texts))
    .bind(api_key.expires_at)
    .bind(api_key.revoked_at)
    .bind(api_key.revision)
    .bind(api_key.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

#[derive(FromRow)]
struct ApiKeyRow {
    id: ApiKeyId,
    name: String,
    kind: Kind,
    service_id: Option<ServiceId>,
    policy_id: Option<PolicyId>,
    policy_number: Option<String>,
    allowed_operations: Option<Operations>,
    allowed_cidrs: Option<Vec<String>>,
    last_four: String,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    revision: Revision,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl ApiKeyRow {
    fn at(self, now: Timestamp) -> sqlx::Result<ApiKey> {
        Ok(ApiKey {
            id: self.id,
            name: self.name,
            kind: self.kind,
            service_id: self.service_id,
            policy_number: self.policy_number,
            allowed_operations: self.allowed_operations,
            allowed_cidrs: self
                .allowed_cidrs
                .map(|texts| texts.iter().map(|text| text.parse()).collect())
                .transpose()
                .map_err(undecodable)?,
            hint: hint(self.kind, &self.last_four),
            status: Status::of(now, self.revoked_at, self.expires_at),
            expires_at: self.expires_at,
            last_used_at: self.last_used_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
            revoked_at: self.revoked_at,
            policy_id: self.policy_id,
            revision: self.revision,
        })
    }
}

fn texts(networks: &[ipnet::IpNet]) -> Vec<String> {
    networks.iter().map(ToString::to_string).collect()
}
