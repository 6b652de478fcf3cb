//! Credentials in the database.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::identity::{CredentialRefused, Identity, Noted, StoredKey, Workload};
use super::{
    ApiKey, ApiKeyDigest, IdentityStatus, RateLimit, Roles, Service, ServiceStatus,
    WorkloadIdentity, people,
};
use crate::db::{Pool, sql};
use crate::ids::{CredentialId, ServiceId};
use crate::resource::{Rows, Stored as _, select};
use crate::seals::ever_made;
use formats::clock::Timestamp;

/// The API key with this digest. An API key of an unknown service does not exist.
pub(super) async fn api_key(
    database: &Pool,
    at_rest: ApiKeyDigest,
) -> sqlx::Result<Option<StoredKey>> {
    let found = select::<ApiKey>("WHERE digest = $1").bind(at_rest);
    let Some(api_key) = found.fetch_optional(database.rows()).await? else {
        return Ok(None);
    };
    let is_cut_off = match &api_key.person {
        None => false,
        Some(person) => {
            let mut connection = database.acquire().await?;
            people::is_cut_off(database.rows_on(&mut connection), person).await?
        }
    };
    let Some(id) = api_key.service_id else {
        return Ok(Some(StoredKey::of(api_key, None, is_cut_off)));
    };
    let service = service(database, id).await?;
    Ok(service.map(|service| StoredKey::of(api_key, Some(&service), is_cut_off)))
}

/// The services that are not deleted.
pub(super) async fn living_services(rows: Rows<&mut PgConnection>) -> sqlx::Result<Vec<Service>> {
    select("WHERE deleted_at IS NULL").fetch_all(rows).await
}

async fn service(database: &Pool, id: ServiceId) -> sqlx::Result<Option<Service>> {
    let living = select("WHERE id = $1 AND deleted_at IS NULL").bind(id);
    living.fetch_optional(database.rows()).await
}

/// The identities that are not deleted, and whether every identity that was ever made has a valid row, deleted ones
/// included. One that is missing could be a disabled one. An identity is in `revisions` before its row, which is
/// read last: one that goes away meanwhile is missing.
pub(super) async fn living_identities(
    rows: Rows<&mut PgConnection>,
) -> sqlx::Result<(Vec<WorkloadIdentity>, bool)> {
    let known = ever_made(&mut *rows.executor, WorkloadIdentity::TABLE).await?;
    let mut valid = select::<WorkloadIdentity>("").fetch_all(rows).await?;
    let ids: HashSet<Uuid> = valid.iter().map(|identity| identity.id.uuid()).collect();
    valid.retain(|identity| identity.deleted_at.is_none());
    Ok((valid, known.iter().all(|id| ids.contains(id))))
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

/// The workload with this identity. One whose service is lost is refused.
pub(super) async fn workload(
    database: &Pool,
    identity: &WorkloadIdentity,
) -> sqlx::Result<Workload> {
    let service = service(database, identity.service_id).await?;
    Ok(Workload::of(identity, service.as_ref()))
}

impl Workload {
    fn of(identity: &WorkloadIdentity, service: Option<&Service>) -> Self {
        let refused = match (identity.status, service) {
            (IdentityStatus::Disabled, _) => Some(CredentialRefused::Disabled),
            (IdentityStatus::Active, None) => Some(CredentialRefused::LostService),
            (IdentityStatus::Active, Some(_)) => None,
        };
        Self {
            refused,
            identity: Arc::new(Identity {
                credential_id: CredentialId::Identity(identity.id),
                name: identity.name.to_string(),
                kind: None,
                roles: Roles::default(),
                service_id: Some(identity.service_id),
                service_name: service.map(|service| service.name.to_string().into()),
                is_frozen: service.is_none_or(|it| it.status == ServiceStatus::Frozen),
                rate_limit: service.map_or(RateLimit::OF_ADMINS, |service| *service.rate_limit),
                bound_policy: identity.policy_number.id(),
                allowed_operations: identity.allowed_operations,
                noted: Noted::default(),
            }),
        }
    }
}

impl StoredKey {
    /// An API key of a service, or of an administrator.
    fn of(api_key: ApiKey, service: Option<&Service>, is_cut_off: bool) -> Self {
        Self {
            at_rest: api_key.digest,
            kind: api_key.r#type,
            allowed_networks: api_key.allowed_cidrs.map(|networks| networks.iter().collect()),
            certificate: api_key.certificate_sha256,
            expires_at: api_key.expires_at,
            revoked_at: api_key.revoked_at,
            is_cut_off,
            identity: Arc::new(Identity {
                credential_id: CredentialId::ApiKey(api_key.id),
                name: api_key.name.to_string(),
                kind: Some(api_key.r#type),
                roles: api_key.roles,
                service_id: service.map(|service| service.id),
                service_name: service.map(|service| service.name.to_string().into()),
                is_frozen: service.is_some_and(|it| it.status == ServiceStatus::Frozen),
                rate_limit: service.map_or(RateLimit::OF_ADMINS, |service| *service.rate_limit),
                bound_policy: api_key.policy_number.id(),
                allowed_operations: api_key.allowed_operations,
                noted: Noted::default(),
            }),
        }
    }
}
