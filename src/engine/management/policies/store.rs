//! Policies in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{Policy, PolicyFilter, PolicyName};
use crate::db::undecodable;
use crate::ids::{ApiKeyId, IdentityId, PolicyId, ServiceId};
use crate::keys::{self, Usage};
use crate::management::{PageRequest, Referrers};
use crate::policy::{KeyOwnership, PolicyNumber, PolicyStatus, select_named};
use crate::resource::{Rows, select};
use formats::envelope::Alg;
use formats::material::Family;

pub(super) async fn list(
    rows: Rows<impl PgExecutor<'_>>,
    filter: &PolicyFilter,
    page: PageRequest,
) -> sqlx::Result<Vec<Policy>> {
    select(
        "WHERE (deleted_at IS NOT NULL) = $8
            AND ($1::uuid IS NULL OR id > $1)
            AND ($2::text IS NULL OR status = $2)
            AND ($3::uuid IS NULL OR destination_service_id = $3)
            AND ($4::text IS NULL OR position(lower($4) IN lower(policy_number || ' ' || name)) > 0)
            AND ($5::text IS NULL OR name = $5)
            AND ($6::text IS NULL OR position(lower($6) IN lower(name)) > 0)
          ORDER BY id
          LIMIT $7",
    )
    .bind(page.after())
    .bind(filter.status)
    .bind(filter.destination_service_id)
    .bind(filter.text.as_deref())
    .bind(filter.name.as_deref())
    .bind(filter.name_contains.as_deref())
    .bind(page.rows())
    .bind(filter.deleted)
    .fetch_listed(rows)
    .await
}

/// An active policy that opens envelopes with a private key of this service and family.
pub(in crate::management) async fn opened_with(
    database: impl PgExecutor<'_>,
    service: ServiceId,
    family: Family,
) -> sqlx::Result<Option<PolicyNumber>> {
    sqlx::query_scalar(
        "SELECT policy_number FROM policies
          WHERE deleted_at IS NULL AND destination_service_id = $1 AND status = $2
            AND key_ownership = $3 AND alg = ANY ($4)
          ORDER BY policy_number LIMIT 1",
    )
    .bind(service)
    .bind(PolicyStatus::Active)
    .bind(KeyOwnership::ServiceManaged)
    .bind(Alg::of(family).collect::<Vec<_>>())
    .fetch_optional(database)
    .await
}

/// The families of the active envelope keys of a service.
pub(super) async fn families_of(
    connection: &mut PgConnection,
    service: ServiceId,
) -> sqlx::Result<Vec<Family>> {
    sqlx::query_scalar(
        "SELECT DISTINCT family FROM keys WHERE service_id = $1 AND usage = $2 AND status = $3",
    )
    .bind(service)
    .bind(Usage::Enc)
    .bind(keys::KeyStatus::Active)
    .fetch_all(connection)
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
    rows: Rows<impl PgExecutor<'_>>,
    name: &PolicyName,
) -> sqlx::Result<Option<Policy>> {
    select_named("WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)", name)
        .fetch_optional(rows)
        .await
}

/// Reads and locks a policy, so that no other transaction changes it or begins to refer to it.
pub(super) async fn lock(
    rows: Rows<&mut PgConnection>,
    name: &PolicyName,
) -> sqlx::Result<Option<Policy>> {
    select_named("WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)", name)
        .lock(rows)
        .await
}

/// The deleted policies of that name, the oldest first. Several can have had one number.
pub(super) async fn deleted(
    rows: Rows<impl PgExecutor<'_>>,
    name: &PolicyName,
) -> sqlx::Result<Vec<Policy>> {
    select_named(
        "WHERE deleted_at IS NOT NULL AND (id = $1 OR policy_number = $2) ORDER BY id",
        name,
    )
    .fetch_all(rows)
    .await
}

/// Reads and locks the policies of that name, whether they are deleted or not.
pub(super) async fn lock_all(
    rows: Rows<&mut PgConnection>,
    name: &PolicyName,
) -> sqlx::Result<Vec<Policy>> {
    select_named("WHERE id = $1 OR policy_number = $2 ORDER BY id", name)
        .lock_all("FOR UPDATE", rows)
        .await
}

/// The valid policy with that number, which cannot be deleted until the transaction ends, so a row can refer
/// to it. (A foreign key accepts a tombstone.)
pub(in crate::management) async fn lock_living(
    rows: Rows<&mut PgConnection>,
    number: &PolicyNumber,
) -> sqlx::Result<Option<PolicyId>> {
    let named = select::<Policy>("WHERE policy_number = $1 AND deleted_at IS NULL");
    let mut named = named.bind(number.as_str()).lock_all("FOR SHARE", rows).await?;
    // The number was read before the lock.
    named.retain(|policy| policy.policy_number == *number && policy.deleted_at.is_none());
    Ok(named.first().map(|policy| policy.id))
}

pub(super) async fn next_number(connection: &mut PgConnection) -> sqlx::Result<PolicyNumber> {
    let number: i64 =
        sqlx::query_scalar("SELECT nextval('policy_numbers')").fetch_one(connection).await?;
    format!("POL-{number:06}").parse().map_err(undecodable)
}

/// The identities and the API keys that are bound to a policy and not revoked, by their names.
pub(super) async fn referrers(
    connection: &mut PgConnection,
    id: PolicyId,
) -> sqlx::Result<Referrers> {
    let api_keys: Vec<(ApiKeyId, String)> = sqlx::query_as(
        "SELECT id, name FROM api_keys WHERE policy_id = $1 AND revoked_at IS NULL ORDER BY id",
    )
    .bind(id)
    .fetch_all(&mut *connection)
    .await?;
    let identities: Vec<(IdentityId, String)> = sqlx::query_as(
        "SELECT id, name FROM identities WHERE policy_id = $1 AND deleted_at IS NULL ORDER BY id",
    )
    .bind(id)
    .fetch_all(connection)
    .await?;
    let api_keys = api_keys.into_iter().map(|(id, name)| format!("API key {name:?} ({id})"));
    let identities = identities.into_iter().map(|(id, name)| format!("identity {name:?} ({id})"));
    Ok(Referrers { names: api_keys.chain(identities).collect(), advice: None })
}
