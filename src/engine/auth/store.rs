//! Credentials in the database.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use ipnet::IpNet;
use sqlx::{AssertSqlSafe, FromRow, PgExecutor};
use uuid::Uuid;

use super::identity::{Identity, Noted, StoredKey, Workload};
use super::{ApiKeyDigest, ApiKeyType, Match, RateLimit, Roles, Tier};
use crate::db::{Pool, sql, undecodable};
use crate::fingerprint::Fingerprint;
use crate::ids::{ApiKeyId, CredentialId, IdentityId, PolicyId, ServiceId};
use crate::operation::Operations;
use formats::clock::Timestamp;

/// The API key with this digest.
pub(super) async fn api_key(
    database: impl PgExecutor<'_>,
    at_rest: ApiKeyDigest,
) -> sqlx::Result<Option<StoredKey>> {
    let row: Option<KeyRow> = sqlx::query_as(
        "SELECT k.id, k.name, k.type AS kind, k.roles, k.digest, k.service_id, k.policy_id,
                k.allowed_operations, k.allowed_cidrs::text[] AS allowed_networks,
                k.certificate_sha256, k.expires_at, k.revoked_at, s.tier, s.requests_per_second, s.burst
           FROM api_keys k LEFT JOIN services s ON s.id = k.service_id
          WHERE k.digest = $1",
    )
    .bind(at_rest.as_bytes().as_slice())
    .fetch_optional(database)
    .await?;
    row.map(StoredKey::try_from).transpose()
}

/// The start of a query of identities. Their conditions follow.
const WORKLOADS: &str = "SELECT i.id, i.name, i.match, i.status = 'disabled' AS is_disabled, i.service_id,
                                i.policy_id, i.allowed_operations, s.tier, s.requests_per_second, s.burst
                           FROM identities i JOIN services s ON s.id = i.service_id
                          WHERE i.deleted_at IS NULL AND ";

/// The identities that match tokens of this issuer with this subject, disabled ones included, so that
/// disabling one does not let another take its place.
pub(super) async fn of_subject(
    database: impl PgExecutor<'_>,
    issuer: &str,
    subject: &str,
) -> sqlx::Result<Vec<(Match, Arc<Workload>)>> {
    let rows: Vec<WorkloadRow> =
        sqlx::query_as(sql([WORKLOADS, "i.match->>'issuer' = $1 AND i.match->>'subject' = $2"]))
            .bind(issuer)
            .bind(subject)
            .fetch_all(database)
            .await?;
    Ok(rows.into_iter().map(WorkloadRow::into_parts).collect())
}

/// The identities that match tokens of this issuer with any subject, disabled ones included.
pub(super) async fn of_any_subject(
    database: impl PgExecutor<'_>,
    issuer: &str,
) -> sqlx::Result<Vec<(Match, Arc<Workload>)>> {
    let rows: Vec<WorkloadRow> =
        sqlx::query_as(sql([WORKLOADS, "i.match->>'issuer' = $1 AND i.match->>'subject' IS NULL"]))
            .bind(issuer)
            .fetch_all(database)
            .await?;
    Ok(rows.into_iter().map(WorkloadRow::into_parts).collect())
}

/// The identities that match this SPIFFE ID or this fingerprint of a certificate, disabled ones included.
pub(super) async fn certified(
    database: impl PgExecutor<'_>,
    spiffe_id: Option<&str>,
    fingerprint: Option<&str>,
) -> sqlx::Result<Vec<(Match, Arc<Workload>)>> {
    let rows: Vec<WorkloadRow> = sqlx::query_as(sql([
        WORKLOADS,
        "(i.match->>'spiffeId' = $1 OR i.match->>'certificateSha256' = $2)",
    ]))
    .bind(spiffe_id)
    .bind(fingerprint)
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().map(WorkloadRow::into_parts).collect())
}

/// Writes the last uses of credentials in this table.
fn write_last_uses_in(table: &'static str) -> AssertSqlSafe<String> {
    sql([
        "WITH due AS (
             SELECT id, noted.at
               FROM ",
        table,
        " JOIN unnest($1::uuid[], $2::timestamptz[]) AS noted (id, at) USING (id)
              WHERE last_used_at IS NULL OR last_used_at < noted.at),
         free AS (
             SELECT id FROM ",
        table,
        " WHERE id IN (SELECT id FROM due)
                FOR NO KEY UPDATE SKIP LOCKED),
         written AS (
             UPDATE ",
        table,
        " AS used
                SET last_used_at = due.at
               FROM due JOIN free USING (id)
              WHERE used.id = due.id
                AND (used.last_used_at IS NULL OR used.last_used_at < due.at))
         SELECT id FROM due EXCEPT SELECT id FROM free",
    ])
}

/// Advances the last use and never moves it back. Returns the credentials that other transactions have
/// locked: a batch that waited for them could deadlock with a change of several credentials.
pub(super) async fn write_last_uses(
    database: &Pool,
    uses: &HashMap<CredentialId, Timestamp>,
) -> sqlx::Result<Vec<Uuid>> {
    let of = |is_wanted: fn(CredentialId) -> bool| -> (Vec<Uuid>, Vec<Timestamp>) {
        let wanted = uses.iter().filter(|(id, _)| is_wanted(**id));
        wanted.map(|(id, at)| (id.uuid(), *at)).unzip()
    };
    let mut locked = Vec::new();
    for (table, (ids, times)) in [
        ("api_keys", of(|id| id.api_key().is_some())),
        ("identities", of(|id| id.identity().is_some())),
    ] {
        if !ids.is_empty() {
            let written = sqlx::query_scalar(write_last_uses_in(table)).bind(ids).bind(times);
            let missed: Vec<Uuid> = written.fetch_all(database).await?;
            locked.extend(missed);
        }
    }
    Ok(locked)
}

#[derive(FromRow)]
struct WorkloadRow {
    id: IdentityId,
    name: String,
    r#match: Match,
    is_disabled: bool,
    service_id: ServiceId,
    policy_id: Option<PolicyId>,
    allowed_operations: Option<Operations>,
    tier: Tier,
    requests_per_second: Option<i32>,
    burst: Option<i32>,
}

impl WorkloadRow {
    fn into_parts(self) -> (Match, Arc<Workload>) {
        let agreed = rate_limit(self.requests_per_second, self.burst);
        let workload = Workload {
            is_disabled: self.is_disabled,
            identity: Arc::new(Identity {
                credential_id: CredentialId::Identity(self.id),
                name: self.name,
                kind: None,
                roles: Roles::default(),
                service_id: Some(self.service_id),
                rate_limit: self.tier.rate_limit_with(agreed),
                bound_policy: self.policy_id,
                allowed_operations: self.allowed_operations,
                noted: Noted::default(),
            }),
        };
        (self.r#match, Arc::new(workload))
    }
}

#[derive(FromRow)]
struct KeyRow {
    id: ApiKeyId,
    name: String,
    kind: ApiKeyType,
    roles: Roles,
    digest: [u8; 32],
    service_id: Option<ServiceId>,
    policy_id: Option<PolicyId>,
    allowed_operations: Option<Operations>,
    allowed_networks: Option<Vec<String>>,
    certificate_sha256: Option<Fingerprint>,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    tier: Option<Tier>,
    requests_per_second: Option<i32>,
    burst: Option<i32>,
}

impl TryFrom<KeyRow> for StoredKey {
    type Error = sqlx::Error;

    fn try_from(row: KeyRow) -> sqlx::Result<Self> {
        let agreed = rate_limit(row.requests_per_second, row.burst);
        let identity = Identity {
            credential_id: CredentialId::ApiKey(row.id),
            name: row.name,
            kind: Some(row.kind),
            roles: row.roles,
            service_id: row.service_id,
            rate_limit: row.tier.map_or(RateLimit::OF_ADMINS, |tier| tier.rate_limit_with(agreed)),
            bound_policy: row.policy_id,
            allowed_operations: row.allowed_operations,
            noted: Noted::default(),
        };
        Ok(Self {
            at_rest: ApiKeyDigest::from_bytes(row.digest),
            kind: row.kind,
            identity: Arc::new(identity),
            allowed_networks: row
                .allowed_networks
                .map(|texts| texts.iter().map(|text| text.parse::<IpNet>()).collect())
                .transpose()
                .map_err(undecodable)?,
            certificate: row.certificate_sha256,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
        })
    }
}

/// The individual limit of a service.
pub fn rate_limit(requests_per_second: Option<i32>, burst: Option<i32>) -> Option<RateLimit> {
    let positive = |number: Option<i32>| NonZeroU32::new(u32::try_from(number?).ok()?);
    Some(RateLimit { requests_per_second: positive(requests_per_second)?, burst: positive(burst)? })
}
