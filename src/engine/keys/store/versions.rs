//! The versions of keys, in the database.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::db::Pool;
use crate::ids::ServiceId;
use crate::keys::versions::versions_of;
use crate::keys::{Key, KeyStatus, KeyVersion, Usage, Versions};
use crate::resource::{Identified as _, Rows, select};
use crate::seals::{join, join_at, members, newest_entry};
use formats::material::Algorithm;

/// Gives a new key the version after all that its name ever had. The service is already locked.
pub(crate) async fn next_version(
    connection: &mut PgConnection,
    key: &Key,
) -> sqlx::Result<KeyVersion> {
    Ok(KeyVersion::of(join(connection, key.versions(), key.uuid()).await?))
}

/// Gives a new key this version. Returns false if its name already had it or a higher one. The service is
/// already locked.
pub(crate) async fn take_version(
    connection: &mut PgConnection,
    key: &Key,
    version: KeyVersion,
) -> sqlx::Result<bool> {
    join_at(connection, key.versions(), key.uuid(), version.number()).await
}

/// Whether this version is above all that the name ever had.
pub(crate) async fn is_new_version(
    connection: &mut PgConnection,
    (service, name): (ServiceId, &str),
    version: KeyVersion,
) -> sqlx::Result<bool> {
    let newest = newest_entry(connection, versions_of(service, name).row()).await?;
    Ok(newest.is_none_or(|newest| newest.revision < version.number()))
}

/// Whether a key with a version under this name has another use or algorithm.
pub(crate) async fn is_name_of_another_kind(
    connection: &mut PgConnection,
    (service, name): (ServiceId, &str),
    (usage, algorithm): (Usage, Algorithm),
) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM keys
          WHERE service_id = $1 AND name = $2 AND version IS NOT NULL
            AND (usage <> $3 OR algorithm <> $4))",
    )
    .bind(service)
    .bind(name)
    .bind(usage)
    .bind(algorithm)
    .fetch_one(connection)
    .await
}

/// The keys of a service with this name that have a version, if there are any.
pub(in crate::keys) async fn versions(
    database: &Pool,
    service: ServiceId,
    name: &str,
) -> sqlx::Result<Option<Versions>> {
    let group = versions_of(service, name);
    let mut snapshot = database.snapshot().await?;
    let members = members(&mut *snapshot, group).await?;
    let ids: Vec<Uuid> = members.iter().map(|member| member.id).collect();
    let keys = select::<Key>("WHERE id = ANY ($1)").bind(ids);
    let keys = keys.fetch_all(database.rows_on(&mut snapshot)).await?;
    snapshot.rollback().await?;
    Ok((!members.is_empty()).then(|| Versions::of(group, &members, keys)))
}

/// The names of a service under which a key with a version is not destroyed, in order.
pub(in crate::keys) async fn names(
    rows: Rows<impl PgExecutor<'_>>,
    service: ServiceId,
) -> sqlx::Result<Vec<String>> {
    let keys = select::<Key>("WHERE service_id = $1 AND version IS NOT NULL AND status <> $2");
    let keys = keys.bind(service).bind(KeyStatus::Destroyed).fetch_all(rows).await?;
    let mut names: Vec<String> = keys.iter().map(|key| key.name.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// The keys with a version that have the name of `key`, the highest version first, at most `limit`.
pub(crate) async fn highest_versions(
    rows: Rows<impl PgExecutor<'_>>,
    key: &Key,
    limit: i64,
) -> sqlx::Result<Vec<Key>> {
    select(
        "WHERE service_id = $1 AND name = $2 AND version IS NOT NULL
          ORDER BY version DESC LIMIT $3",
    )
    .bind(key.service_id)
    .bind(key.name.clone())
    .bind(limit)
    .fetch_listed(rows)
    .await
}
