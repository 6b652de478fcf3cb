//! Lists of keys.

use sqlx::PgExecutor;
use utoipa::IntoParams;
use uuid::Uuid;

use super::{acting_of, in_states};
use crate::auth::Service;
use crate::db::Pool;
use crate::ids::ServiceId;
use crate::keys::{Key, KeyStatus, Usage};
use crate::resource::{Rows, select};

/// The filter of a list.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct KeyFilter {
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
    pub status: Option<KeyStatus>,
}

/// At most `rows` keys after `after`, by creation time.
pub(crate) async fn list(
    rows: Rows<impl PgExecutor<'_>>,
    filter: KeyFilter,
    after: Option<Uuid>,
    limit: i64,
) -> sqlx::Result<Vec<Key>> {
    select(
        "WHERE ($1::uuid IS NULL OR id > $1)
            AND ($2::uuid IS NULL OR service_id = $2)
            AND ($3::text IS NULL OR usage = $3)
            AND ($4::text IS NULL OR status = $4)
            AND ($5::text IS NULL OR name = $5)
            AND ($6::text IS NULL OR position(lower($6) IN lower(name)) > 0)
          ORDER BY id
          LIMIT $7",
    )
    .bind(after)
    .bind(filter.service_id)
    .bind(filter.usage)
    .bind(filter.status)
    .bind(filter.name)
    .bind(filter.name_contains)
    .bind(limit)
    .fetch_listed(rows)
    .await
}

/// The keys with a public key in one of `parts` parts of all keys.
pub(in crate::keys) async fn with_public_key(
    rows: Rows<impl PgExecutor<'_>>,
    part: i64,
    parts: i64,
) -> sqlx::Result<Vec<Key>> {
    select(
        "WHERE public_key IS NOT NULL AND get_byte(uuid_send(id), 15) % $2 = $1
          ORDER BY id",
    )
    .bind(part)
    .bind(parts)
    .fetch_all(rows)
    .await
}

/// The published keys of a service, if it publishes them.
pub(in crate::keys) async fn published(
    database: &Pool,
    service: ServiceId,
) -> sqlx::Result<Option<Vec<Key>>> {
    let found = select::<Service>("WHERE id = $1 AND deleted_at IS NULL").bind(service);
    let found = found.fetch_optional(database.rows()).await?;
    if !found.is_some_and(|service| service.publish_keys) {
        return Ok(None);
    }
    let signing = select(
        "WHERE service_id = $1 AND public_key IS NOT NULL AND usage = $2 AND status = ANY ($3)",
    )
    .bind(service)
    .bind(Usage::Sig)
    .bind([KeyStatus::Active, KeyStatus::Retired])
    .fetch_all(database.rows())
    .await?;
    let signing = in_states(signing, &[KeyStatus::Active, KeyStatus::Retired]);
    let acting = acting_of(database, service).await?.into_iter();
    let mut keys: Vec<Key> = acting.filter(|key| key.usage == Usage::Enc).chain(signing).collect();
    keys.sort_by_key(|key| key.id);
    Ok(Some(keys))
}
