//! API keys in the database.

use std::collections::HashMap;
use std::num::NonZeroU32;

use ipnet::IpNet;
use sqlx::{FromRow, PgExecutor};

use super::identity::{Identity, Noted};
use super::{AtRest, Kind, RateLimit, Roles, Tier};
use crate::clock::Timestamp;
use crate::db::undecodable;
use crate::ids::{ApiKeyId, PolicyId, ServiceId};
use crate::operation::Operations;

/// The API key with this digest.
pub(super) async fn identity(
    database: impl PgExecutor<'_>,
    at_rest: AtRest,
) -> sqlx::Result<Option<Identity>> {
    let row: Option<IdentityRow> = sqlx::query_as(
        "SELECT k.id, k.name, k.type AS kind, k.roles, k.digest, k.service_id, k.policy_id,
                k.allowed_operations, k.allowed_cidrs::text[] AS allowed_networks,
                k.expires_at, k.revoked_at, s.tier, s.requests_per_second, s.burst
           FROM api_keys k LEFT JOIN services s ON s.id = k.service_id
          WHERE k.digest = $1",
    )
    .bind(at_rest.as_bytes().as_slice())
    .fetch_optional(database)
    .await?;
    row.map(Identity::try_from).transpose()
}

/// Advances the last use and never moves it back. Rows are locked in the order of their ids, so
/// that concurrent instances do not deadlock.
pub(super) async fn write_last_uses(
    database: impl PgExecutor<'_>,
    uses: &HashMap<ApiKeyId, Timestamp>,
) -> sqlx::Result<()> {
    let (keys, times): (Vec<ApiKeyId>, Vec<Timestamp>) = uses.iter().unzip();
    sqlx::query(
        "UPDATE api_keys
            SET last_used_at = used.at
           FROM (SELECT id, noted.at
                   FROM api_keys JOIN unnest($1::uuid[], $2::timestamptz[]) AS noted (id, at) USING (id)
                  WHERE last_used_at IS NULL OR last_used_at < noted.at
                  ORDER BY id
                    FOR NO KEY UPDATE OF api_keys) AS used
          WHERE api_keys.id = used.id",
    )
    .bind(keys)
    .bind(times)
    .execute(database)
    .await?;
    Ok(())
}

#[derive(FromRow)]
struct IdentityRow {
    id: ApiKeyId,
    name: String,
    kind: Kind,
    roles: Roles,
    digest: [u8; 32],
    service_id: Option<ServiceId>,
    policy_id: Option<PolicyId>,
    allowed_operations: Option<Operations>,
    allowed_networks: Option<Vec<String>>,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    tier: Option<Tier>,
    requests_per_second: Option<i32>,
    burst: Option<i32>,
}

impl TryFrom<IdentityRow> for Identity {
    type Error = sqlx::Error;

    fn try_from(row: IdentityRow) -> sqlx::Result<Self> {
        let agreed = rate_limit(row.requests_per_second, row.burst);
        Ok(Self {
            api_key_id: row.id,
            name: row.name,
            kind: row.kind,
            roles: row.roles,
            at_rest: AtRest::from_bytes(row.digest),
            service_id: row.service_id,
            rate_limit: row
                .tier
                .map_or(RateLimit::OF_ADMINS, |tier| tier.rate_limit_with(agreed)),
            bound_policy: row.policy_id,
            allowed_operations: row.allowed_operations,
            allowed_networks: row
                .allowed_networks
                .map(|texts| texts.iter().map(|text| text.parse::<IpNet>()).collect())
                .transpose()
                .map_err(undecodable)?,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            noted: Noted::default(),
        })
    }
}

/// The individual limit of a service.
#[must_use]
pub fn rate_limit(requests_per_second: Option<i32>, burst: Option<i32>) -> Option<RateLimit> {
    let positive = |number: Option<i32>| NonZeroU32::new(u32::try_from(number?).ok()?);
    Some(RateLimit {
        requests_per_second: positive(requests_per_second)?,
        burst: positive(burst)?,
    })
}
