//! What a report reads, in one snapshot.

use std::collections::{BTreeMap, HashMap};

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::auth::{ApiKey, Service};
use crate::ids::{ApiKeyId, KeyId};
use crate::keys::Key;
use crate::ledger::{LogCosigner, LogKey};
use crate::management::{Action, ResourceType};
use crate::policy::Policy;
use crate::resource::{Rows, select};

/// All keys, also destroyed ones and those whose rows do not count.
pub(super) async fn keys(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Key>> {
    select("ORDER BY id").fetch_listed(rows).await
}

/// All services, also deleted ones.
pub(super) async fn services(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Service>> {
    select("ORDER BY id").fetch_all(rows).await
}

/// All policies, also deleted ones.
pub(super) async fn policies(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Policy>> {
    select("ORDER BY policy_number, id").fetch_all(rows).await
}

/// The keys that sign checkpoints.
pub(super) async fn log_keys(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<LogKey>> {
    select("ORDER BY created_at, id").fetch_all(rows).await
}

/// The keys that cosign checkpoints.
pub(super) async fn cosigners(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<LogCosigner>> {
    select("ORDER BY created_at, id").fetch_all(rows).await
}

/// The people of these API keys.
pub(super) async fn people(
    rows: Rows<impl PgExecutor<'_>>,
    keys: Vec<ApiKeyId>,
) -> sqlx::Result<HashMap<ApiKeyId, String>> {
    let keys: Vec<ApiKey> = select("WHERE id = ANY ($1)").bind(keys).fetch_all(rows).await?;
    let people = keys.into_iter().filter_map(|key| Some((key.id, key.person?.to_string())));
    Ok(people.collect())
}

/// The tokens that held each key at the last comparison.
pub(super) async fn presence(
    connection: &mut PgConnection,
) -> sqlx::Result<BTreeMap<KeyId, Vec<String>>> {
    let rows: Vec<(KeyId, String)> = sqlx::query_as(
        "SELECT key_id, token FROM key_presence WHERE present ORDER BY key_id, token COLLATE \"C\"",
    )
    .fetch_all(connection)
    .await?;
    let mut presence: BTreeMap<KeyId, Vec<String>> = BTreeMap::new();
    for (key, token) in rows {
        presence.entry(key).or_default().push(token);
    }
    Ok(presence)
}

/// The events that say who created or approved a key.
pub(super) async fn events_of_keys(connection: &mut PgConnection) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar(
        "SELECT id FROM management_events
          WHERE resource_type = $1 AND (action = $2 OR approved_by IS NOT NULL)
          ORDER BY id",
    )
    .bind(ResourceType::Key)
    .bind(Action::Create)
    .fetch_all(connection)
    .await
}
