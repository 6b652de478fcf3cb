//! What a report reads, in one snapshot.

use std::collections::{BTreeMap, HashMap};

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::auth::{ApiKey, Service};
use crate::ids::{ApiKeyId, KeyId};
use crate::keys::Key;
use crate::ledger::Log;
use crate::management::{Action, ResourceType};
use crate::policy::Policy;
use crate::resource::{Marked, Rows, select};

/// All keys, also destroyed ones and those whose rows do not count.
pub(super) async fn keys(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Key>> {
    select("ORDER BY id").fetch_listed(rows).await
}

/// All services, also deleted ones; none while a row does not count.
pub(super) async fn services(
    rows: Rows<impl PgExecutor<'_>>,
) -> sqlx::Result<Option<Vec<Service>>> {
    Ok(valid(select("ORDER BY id").fetch_marked(rows).await?))
}

/// All policies, also deleted ones; none while a row does not count.
pub(super) async fn policies(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Option<Vec<Policy>>> {
    Ok(valid(select("ORDER BY policy_number, id").fetch_marked(rows).await?))
}

/// The resources of rows that all count.
fn valid<R>(rows: Vec<Marked<R>>) -> Option<Vec<R>> {
    rows.into_iter().map(|row| row.resource.filter(|_| row.is_valid)).collect()
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

/// The events that say who created or approved a key. The login of the service can add events; of those, the sealer
/// makes the segments, which do not have their names. Segments that it adds are `foreign`.
pub(super) async fn events_of_keys(
    connection: &mut PgConnection,
    foreign: &[Uuid],
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar(
        "SELECT id FROM management_events
          WHERE resource_type = $1 AND (action = $2 OR approved_by IS NOT NULL) AND id <> ALL ($4)
            AND EXISTS (SELECT FROM audit_log_places($3, id) AS sealed WHERE sealed.segment = management_events.id)
          ORDER BY id",
    )
    .bind(ResourceType::Key)
    .bind(Action::Create)
    .bind(Log::Management.number())
    .bind(foreign)
    .fetch_all(connection)
    .await
}
