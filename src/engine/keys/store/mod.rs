//! Keys in the database.

mod destruction;
mod list;
mod objects;
mod succession;
mod versions;

use sqlx::{PgConnection, PgExecutor};

pub(crate) use self::destruction::{begin_destruction, is_past_restoring, lock_destroying};
pub use self::list::KeyFilter;
pub(crate) use self::list::list;
pub(super) use self::list::{published, with_public_key};
pub(crate) use self::objects::is_claimed;
pub(super) use self::objects::was_claimed;
pub(crate) use self::succession::activate;
pub(super) use self::succession::{acting_of, rivals};
pub(crate) use self::versions::highest_versions;
pub(crate) use self::versions::{
    is_name_of_another_kind, is_new_version, next_version, take_version,
};
pub(super) use self::versions::{names, versions};
use super::vault::store::forget_intent;
use super::{Key, KeyStatus, Usage};
use crate::ids::{KeyId, ServiceId};
use crate::resource::{self, Identified as _, Printable, Rows, select};
use crate::seals::What;
use formats::clock::Timestamp;

/// Records a new key and removes its intent. Returns whether the intent existed: without it, another job
/// may have destroyed the object that was made for the key.
pub(crate) async fn insert(mut rows: Rows<&mut PgConnection>, key: &Key) -> sqlx::Result<bool> {
    resource::insert(rows.again(), key).await?;
    objects::claim(&mut *rows.executor, key).await?;
    forget_intent(rows.executor, key.uuid()).await
}

/// Writes a changed key.
pub(crate) async fn update(rows: Rows<&mut PgConnection>, key: &Key) -> sqlx::Result<()> {
    resource::update(rows, key, What::Changed).await
}

/// The key with this identifier, in any state.
pub(crate) async fn by_id(rows: Rows<impl PgExecutor<'_>>, id: KeyId) -> sqlx::Result<Option<Key>> {
    select("WHERE id = $1").bind(id).fetch_optional(rows).await
}

/// The keys that still are in one of these states: an entry of `revisions` disables a key whose row is
/// active.
fn in_states(keys: Vec<Key>, states: &[KeyStatus]) -> Vec<Key> {
    keys.into_iter().filter(|key| states.contains(&key.status)).collect()
}

/// The envelope keys of a service that partners name by identifiers of their own and that open
/// envelopes.
pub(super) async fn named_by_partners(
    rows: Rows<impl PgExecutor<'_>>,
    service: ServiceId,
) -> sqlx::Result<Vec<Key>> {
    let states = [KeyStatus::Active, KeyStatus::Retired];
    let keys = select(
        "WHERE service_id = $1 AND partner_kid IS NOT NULL AND usage = $2
            AND status = ANY ($3)",
    )
    .bind(service)
    .bind(Usage::Enc)
    .bind(states)
    .fetch_all(rows)
    .await?;
    Ok(in_states(keys, &states))
}

/// Whether a key of the service that is not destroyed has this identifier for partners.
pub(crate) async fn has_partner_kid(
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
    .bind(KeyStatus::Destroyed)
    .fetch_one(connection)
    .await
}

/// Locks the service and then the key, so that changes of several keys of one service are serialized.
pub(crate) async fn lock(
    mut rows: Rows<&mut PgConnection>,
    id: KeyId,
) -> sqlx::Result<Option<Key>> {
    sqlx::query(
        "SELECT 1 FROM services WHERE id = (SELECT service_id FROM keys WHERE id = $1)
         FOR NO KEY UPDATE",
    )
    .bind(id)
    .execute(&mut *rows.executor)
    .await?;
    select("WHERE id = $1").bind(id).lock(rows.again()).await
}

/// Locks a service against changes of its keys. Returns whether it exists.
pub(crate) async fn lock_service(
    connection: &mut PgConnection,
    service: ServiceId,
) -> sqlx::Result<bool> {
    let found = sqlx::query(
        "SELECT 1 FROM services WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE",
    )
    .bind(service)
    .execute(connection)
    .await?;
    Ok(found.rows_affected() > 0)
}

/// Locks the active envelope key that `key` replaces. The service is already locked.
pub(crate) async fn former(rows: Rows<&mut PgConnection>, key: &Key) -> sqlx::Result<Option<Key>> {
    select("WHERE service_id = $1 AND family = $2 AND id <> $3 AND usage = $4 AND status = $5")
        .bind(key.service_id)
        .bind(key.algorithm.family())
        .bind(key.id)
        .bind(Usage::Enc)
        .bind(KeyStatus::Active)
        .lock(rows)
        .await
}

/// The active keys that expire before `soon`.
pub(super) async fn expiring(
    database: impl PgExecutor<'_>,
    soon: Timestamp,
) -> sqlx::Result<Vec<(KeyId, Timestamp)>> {
    sqlx::query_as("SELECT id, expires_at FROM keys WHERE status = $1 AND expires_at <= $2")
        .bind(KeyStatus::Active)
        .bind(soon)
        .fetch_all(database)
        .await
}
