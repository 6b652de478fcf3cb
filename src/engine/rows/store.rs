//! Locks, snapshots, and the events of resources.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::management::{Action, ResourceType};

/// The advisory lock of processes that make internal keys.
const INTERNAL_KEYS: i64 = 0x5ea1_3a8d_0033;

/// Waits for other processes that make internal keys, until the transaction ends.
pub(super) async fn lock_internal_keys(connection: &mut PgConnection) -> sqlx::Result<()> {
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INTERNAL_KEYS);
    lock.execute(connection).await?;
    Ok(())
}

/// Lets all statements of a transaction see the same rows.
pub(super) async fn take_snapshot(connection: &mut PgConnection) -> sqlx::Result<()> {
    let sql = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
    sqlx::query(sql).execute(connection).await?;
    Ok(())
}

/// The resources of this type in a range of identifiers, with the last event that attests the state of each.
/// The events of `sealward emergency` have no states.
pub(super) async fn last_events(
    connection: &mut PgConnection,
    of: ResourceType,
    after: Uuid,
    end: Option<Uuid>,
) -> sqlx::Result<Vec<(Uuid, Uuid)>> {
    sqlx::query_as(
        "SELECT DISTINCT ON (resource_id) resource_id, id FROM management_events
          WHERE resource_type = $1 AND action = ANY ($2) AND num_nonnulls(before, after) > 0
            AND resource_id > $3 AND ($4::uuid IS NULL OR resource_id <= $4)
          ORDER BY resource_id, id DESC",
    )
    .bind(of)
    .bind(attesting())
    .bind(after)
    .bind(end)
    .fetch_all(connection)
    .await
}

/// The events that attest states of a resource.
pub(super) async fn events_of(
    connection: &mut PgConnection,
    of: ResourceType,
    id: Uuid,
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar(
        "SELECT id FROM management_events
          WHERE resource_type = $1 AND action = ANY ($2) AND num_nonnulls(before, after) > 0
            AND resource_id = $3",
    )
    .bind(of)
    .bind(attesting())
    .bind(id)
    .fetch_all(connection)
    .await
}

fn attesting() -> Vec<Action> {
    Action::ALL.into_iter().filter(|action| action.attests()).collect()
}
