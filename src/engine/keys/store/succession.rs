//! The keys that take over from each other, in the database.

use sqlx::PgConnection;
use uuid::Uuid;

use super::in_states;
use crate::db::Pool;
use crate::ids::ServiceId;
use crate::keys::key::SUCCESSION;
use crate::keys::succession::{acting, successions_of};
use crate::keys::{Key, KeyStatus};
use crate::resource::{Identified as _, Rows, select};
use crate::seals::{Group, join, members, members_of};

/// Notes the activation of a key, and returns its number. The service is already locked.
pub(crate) async fn activate(connection: &mut PgConnection, key: &Key) -> sqlx::Result<i64> {
    join(connection, key.succession(), key.uuid()).await
}

/// The keys of a service that act by default, of each succession the one that was activated last first.
pub(in crate::keys) async fn acting_of(
    database: &Pool,
    service: ServiceId,
) -> sqlx::Result<Vec<Key>> {
    let mut snapshot = database.snapshot().await?;
    let members = members_of(&mut *snapshot, SUCCESSION, &successions_of(service)).await?;
    let ids: Vec<Uuid> = members.values().flatten().map(|member| member.id).collect();
    let keys = select::<Key>("WHERE id = ANY ($1)").bind(ids);
    let keys = keys.fetch_all(database.rows_on(&mut snapshot)).await?;
    snapshot.rollback().await?;
    let acting = members.iter().flat_map(|(of, members)| acting(*of, members, &keys));
    Ok(acting.cloned().collect())
}

/// The other active keys of a group of `key`, and whether the rows of all its members count.
pub(in crate::keys) async fn rivals(
    rows: Rows<&mut PgConnection>,
    key: &Key,
    group: Group,
) -> sqlx::Result<(Vec<Key>, bool)> {
    let members = members(&mut *rows.executor, group).await?;
    let ids: Vec<Uuid> = members.iter().map(|member| member.id).collect();
    let others = ids.iter().filter(|id| **id != key.uuid()).count();
    let rivals = select::<Key>("WHERE id = ANY ($1) AND id <> $2").bind(ids).bind(key.id);
    let rivals = rivals.fetch_all(rows).await?;
    let are_whole = rivals.len() == others;
    Ok((in_states(rivals, &[KeyStatus::Active]), are_whole))
}
