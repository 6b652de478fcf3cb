//! Keys in the database.

use hsm::KeyName;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, PgExecutor, Row as _};
use utoipa::IntoParams;
use uuid::Uuid;

use super::vault::store::forget_intent;
use super::{Key, Status, Usage};
use crate::clock::Timestamp;
use crate::db::undecodable;
use crate::ids::{KeyId, ServiceId};
use crate::material::PublicKey;
use crate::resource::Printable;

/// Selects the columns of a key by name, so that a migration that adds a column does not invalidate the
/// statements that open connections have prepared.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, partner_kid, service_id, name, usage, algorithm, origin, status, token_id, \
             token_label, extractable, public_key, expires_at, rotation_days, succeeds, retire_at, \
             activated_at, destroy_at, revision, created_at, updated_at FROM keys ",
            $rest
        )
    };
}

/// The key with this identifier, in any state.
pub async fn by_id(database: impl PgExecutor<'_>, id: KeyId) -> sqlx::Result<Option<Key>> {
    sqlx::query_as(select!("WHERE id = $1"))
        .bind(id)
        .fetch_optional(database)
        .await
}

/// The active keys of a service, latest activation first.
pub(super) async fn active_of(
    database: impl PgExecutor<'_>,
    service: ServiceId,
) -> sqlx::Result<Vec<Key>> {
    sqlx::query_as(select!(
        "WHERE service_id = $1 AND status = $2
          ORDER BY activated_at DESC, id DESC"
    ))
    .bind(service)
    .bind(Status::Active)
    .fetch_all(database)
    .await
}

/// The envelope keys of a service that partners name by identifiers of their own and that open
/// envelopes.
pub(super) async fn named_by_partners(
    database: impl PgExecutor<'_>,
    service: ServiceId,
) -> sqlx::Result<Vec<Key>> {
    sqlx::query_as(select!(
        "WHERE service_id = $1 AND partner_kid IS NOT NULL AND usage = $2
            AND status = ANY ($3)"
    ))
    .bind(service)
    .bind(Usage::Enc)
    .bind([Status::Active, Status::Retired])
    .fetch_all(database)
    .await
}

/// Whether a key of the service that is not destroyed has this identifier for partners.
pub async fn has_partner_kid(
    connection: &mut PgConnection,
    service: ServiceId,
    kid: &Printable,
) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM keys
          WHERE service_id = $1 AND partner_kid = $2 AND status <> $3)",
    )
    .bind(service)
    .bind(kid)
    .bind(Status::Destroyed)
    .fetch_one(connection)
    .await
}

/// Locks the service and then the key, so that changes of several keys of one service are serialized.
pub async fn lock(connection: &mut PgConnection, id: KeyId) -> sqlx::Result<Option<Key>> {
    sqlx::query(
        "SELECT 1 FROM services WHERE id = (SELECT service_id FROM keys WHERE id = $1)
         FOR NO KEY UPDATE",
    )
    .bind(id)
    .execute(&mut *connection)
    .await?;
    sqlx::query_as(select!("WHERE id = $1 FOR UPDATE"))
        .bind(id)
        .fetch_optional(connection)
        .await
}

/// Locks a service against changes of its keys. Returns whether it exists.
pub async fn lock_service(connection: &mut PgConnection, service: ServiceId) -> sqlx::Result<bool> {
    let found = sqlx::query(
        "SELECT 1 FROM services WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE",
    )
    .bind(service)
    .execute(connection)
    .await?;
    Ok(found.rows_affected() > 0)
}

/// Locks the active envelope key that `key` replaces. The service is already locked.
pub async fn former(connection: &mut PgConnection, key: &Key) -> sqlx::Result<Option<Key>> {
    sqlx::query_as(select!(
        "WHERE service_id = $1 AND family = $2 AND id <> $3 AND usage = $4 AND status = $5
          FOR UPDATE"
    ))
    .bind(key.service_id)
    .bind(key.algorithm.family())
    .bind(key.id)
    .bind(Usage::Enc)
    .bind(Status::Active)
    .fetch_optional(connection)
    .await
}

/// The active keys that expire before `soon`.
pub(super) async fn expiring(
    database: impl PgExecutor<'_>,
    soon: Timestamp,
) -> sqlx::Result<Vec<(KeyId, Timestamp)>> {
    sqlx::query_as("SELECT id, expires_at FROM keys WHERE status = $1 AND expires_at <= $2")
        .bind(Status::Active)
        .bind(soon)
        .fetch_all(database)
        .await
}

/// The active keys that have expired, with their names and services, for people. The schema may have
/// no keys yet.
pub async fn expired(
    connection: &mut PgConnection,
    now: Timestamp,
) -> sqlx::Result<Vec<(KeyId, String, String, Timestamp)>> {
    let has_keys: bool = sqlx::query_scalar("SELECT to_regclass('keys') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !has_keys {
        return Ok(Vec::new());
    }
    sqlx::query_as(
        "SELECT k.id, k.name, s.name, k.expires_at
           FROM keys k JOIN services s ON s.id = k.service_id
          WHERE k.status = 'active' AND k.expires_at <= $1
          ORDER BY k.expires_at, k.id",
    )
    .bind(now)
    .fetch_all(connection)
    .await
}

/// Begins the destruction of the keys that are due. They are due when Postgres' clock says so too: the
/// clock of this process may be wrong.
pub async fn begin_destruction(database: impl PgExecutor<'_>, now: Timestamp) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE keys SET destroying_at = now()
          WHERE status = $1 AND destroying_at IS NULL AND destroy_at <= least($2, now())",
    )
    .bind(Status::PendingDestruction)
    .bind(now)
    .execute(database)
    .await?;
    Ok(())
}

/// Whether the delay of a deleted key is over by Postgres' clock, or its destruction has begun.
pub async fn is_past_restoring(database: impl PgExecutor<'_>, id: KeyId) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT destroying_at IS NOT NULL OR destroy_at <= clock_timestamp()
           FROM keys WHERE id = $1",
    )
    .bind(id)
    .fetch_one(database)
    .await
}

/// Locks one key whose destruction has begun, except those in `but`. A key that another instance has
/// locked is left to it.
pub async fn lock_destroying(
    connection: &mut PgConnection,
    but: &[KeyId],
) -> sqlx::Result<Option<Key>> {
    sqlx::query_as(select!(
        "WHERE status = $1 AND destroying_at IS NOT NULL AND id <> ALL ($2)
          ORDER BY destroy_at LIMIT 1 FOR UPDATE SKIP LOCKED"
    ))
    .bind(Status::PendingDestruction)
    .bind(but)
    .fetch_optional(connection)
    .await
}

/// Records a new key and removes its intent, if any.
pub async fn insert(connection: &mut PgConnection, key: &Key) -> sqlx::Result<()> {
    let (token_id, token_label) = token_columns(key);
    sqlx::query(
        "INSERT INTO keys (id, service_id, name, usage, algorithm, origin, status, token_id,
                           token_label, public_key, thumbprint, expires_at, activated_at,
                           destroy_at, revision, created_at, updated_at, partner_kid,
                           rotation_days, succeeds, retire_at, extractable)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                 $18, $19, $20, $21, $22)",
    )
    .bind(key.id)
    .bind(key.service_id)
    .bind(&key.name)
    .bind(key.usage)
    .bind(key.algorithm)
    .bind(key.origin)
    .bind(key.status)
    .bind(token_id)
    .bind(token_label)
    .bind(key.public.as_ref().map(PublicKey::to_spki))
    .bind(key.public.as_ref().map(PublicKey::thumbprint))
    .bind(key.expires_at)
    .bind(key.activated_at)
    .bind(key.destroy_at)
    .bind(key.revision)
    .bind(key.created_at)
    .bind(key.updated_at)
    .bind(&key.partner_kid)
    .bind(key.rotation_days)
    .bind(key.succeeds)
    .bind(key.retire_at)
    .bind(key.extractable)
    .execute(&mut *connection)
    .await?;
    forget_intent(connection, key.id.uuid()).await
}

/// Updates the mutable columns of a key.
pub async fn update(connection: &mut PgConnection, key: &Key) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE keys
            SET name = $2, status = $3, expires_at = $4, activated_at = $5, destroy_at = $6,
                revision = $7, updated_at = $8, rotation_days = $9, succeeds = $10, retire_at = $11
          WHERE id = $1",
    )
    .bind(key.id)
    .bind(&key.name)
    .bind(key.status)
    .bind(key.expires_at)
    .bind(key.activated_at)
    .bind(key.destroy_at)
    .bind(key.revision)
    .bind(key.updated_at)
    .bind(key.rotation_days)
    .bind(key.succeeds)
    .bind(key.retire_at)
    .execute(connection)
    .await?;
    Ok(())
}

/// The filter of a list.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Filter {
    /// Keys with this name.
    pub name: Option<String>,
    /// Keys whose name contains this text, ignoring case.
    pub name_contains: Option<String>,
    /// Keys of this service.
    pub service_id: Option<ServiceId>,
    /// Keys for this use.
    #[param(rename = "use")]
    pub usage: Option<Usage>,
    /// Keys in this state.
    pub status: Option<Status>,
}

/// At most `rows` keys after `after`, by creation time.
pub async fn list(
    database: impl PgExecutor<'_>,
    filter: Filter,
    after: Option<Uuid>,
    rows: i64,
) -> sqlx::Result<Vec<Key>> {
    sqlx::query_as(select!(
        "WHERE ($1::uuid IS NULL OR id > $1)
            AND ($2::uuid IS NULL OR service_id = $2)
            AND ($3::text IS NULL OR usage = $3)
            AND ($4::text IS NULL OR status = $4)
            AND ($5::text IS NULL OR name = $5)
            AND ($6::text IS NULL OR position(lower($6) IN lower(name)) > 0)
          ORDER BY id
          LIMIT $7"
    ))
    .bind(after)
    .bind(filter.service_id)
    .bind(filter.usage)
    .bind(filter.status)
    .bind(filter.name)
    .bind(filter.name_contains)
    .bind(rows)
    .fetch_all(database)
    .await
}

/// The published keys of a service, if it publishes them.
pub(super) async fn published(
    database: impl PgExecutor<'_> + Copy,
    service: ServiceId,
) -> sqlx::Result<Option<Vec<Key>>> {
    let publishes: Option<bool> = sqlx::query_scalar(
        "SELECT publish_keys FROM services WHERE id = $1 AND deleted_at IS NULL",
    )
    .bind(service)
    .fetch_optional(database)
    .await?;
    if publishes != Some(true) {
        return Ok(None);
    }
    sqlx::query_as(select!(
        "WHERE service_id = $1 AND public_key IS NOT NULL
            AND (usage = $2 AND status = $3 OR usage = $4 AND status = ANY ($5))
          ORDER BY id"
    ))
    .bind(service)
    .bind(Usage::Enc)
    .bind(Status::Active)
    .bind(Usage::Sig)
    .bind([Status::Active, Status::Retired])
    .fetch_all(database)
    .await
    .map(Some)
}

impl FromRow<'_, PgRow> for Key {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: KeyId = row.try_get("id")?;
        let public: Option<&[u8]> = row.try_get("public_key")?;
        let public = public.map(PublicKey::from_spki).transpose();
        let public = public
            .map_err(|problem| undecodable(format!("public key of {id}: {}", problem.message)))?;
        let token_id: Option<Vec<u8>> = row.try_get("token_id")?;
        let token_label: Option<String> = row.try_get("token_label")?;
        Ok(Self {
            id,
            partner_kid: row.try_get("partner_kid")?,
            service_id: row.try_get("service_id")?,
            name: row.try_get("name")?,
            usage: row.try_get("usage")?,
            algorithm: row.try_get("algorithm")?,
            origin: row.try_get("origin")?,
            status: row.try_get("status")?,
            token_name: token_id
                .map(KeyName::Id)
                .or(token_label.map(KeyName::Label)),
            extractable: row.try_get("extractable")?,
            public,
            expires_at: row.try_get("expires_at")?,
            rotation_days: row.try_get("rotation_days")?,
            succeeds: row.try_get("succeeds")?,
            retire_at: row.try_get("retire_at")?,
            activated_at: row.try_get("activated_at")?,
            destroy_at: row.try_get("destroy_at")?,
            revision: row.try_get("revision")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
        })
    }
}

fn token_columns(key: &Key) -> (Option<&[u8]>, Option<&str>) {
    match &key.token_name {
        Some(KeyName::Id(id)) => (Some(id), None),
        Some(KeyName::Label(label)) => (None, Some(label)),
        None => (None, None),
    }
}
