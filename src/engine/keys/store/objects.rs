//! The objects of keys in the tokens, and the records that name them.

use hsm::KeyName;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::keys::key::OF_OBJECT;
use crate::keys::{Key, KeyStatus};
use crate::resource::{Identified as _, Rows, select};
use crate::seals::{Group, join, members};

/// Notes that a new record names its object.
pub(super) async fn claim(connection: &mut PgConnection, key: &Key) -> sqlx::Result<()> {
    if let Some(name) = &key.private_half.token_name {
        join(connection, with_object(name), key.uuid()).await?;
    }
    Ok(())
}

/// Whether a key that is not destroyed has the object with this name. So it is while the row of one that had
/// it does not count.
pub(crate) async fn is_claimed(
    rows: Rows<&mut PgConnection>,
    name: &KeyName,
) -> sqlx::Result<bool> {
    let members = members(&mut *rows.executor, with_object(name)).await?;
    let ids: Vec<Uuid> = members.iter().map(|member| member.id).collect();
    let keys = select::<Key>("WHERE id = ANY ($1)").bind(ids).fetch_all(rows).await?;
    // A key never names another object than its first one.
    let is_of_another = |key: &Key| key.private_half.token_name.as_ref() != Some(name);
    let ended = |key: &&Key| key.status == KeyStatus::Destroyed || is_of_another(key);
    Ok(keys.iter().filter(ended).count() < members.len())
}

/// Whether a record ever named the object with this name.
pub(in crate::keys) async fn was_claimed(
    connection: &mut PgConnection,
    name: &KeyName,
) -> sqlx::Result<bool> {
    Ok(!members(connection, with_object(name)).await?.is_empty())
}

/// The keys that named this object. Without this group, an object could get another record after its own was
/// hidden.
fn with_object(name: &KeyName) -> Group {
    let parts: [&[u8]; 2] = match name {
        KeyName::Id(id) => [b"id", id],
        KeyName::Label(label) => [b"label", label.as_bytes()],
        KeyName::Internal(id) => [b"internal", id],
    };
    Group::of(OF_OBJECT, &parts)
}
