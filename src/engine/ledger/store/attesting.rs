//! The events that say in which state a resource is.

use sqlx::{PgConnection, Postgres};
use uuid::Uuid;

use super::number;
use crate::ledger::Log;
use crate::management::{Action, ResourceType};

/// An event that says something of the state of a resource.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(crate) struct AttestingEvent {
    /// The resource.
    pub(crate) resource_id: Uuid,
    /// The event.
    pub(crate) id: Uuid,
    /// Whether it says only what the resource lost.
    pub(crate) is_partial: bool,
    /// Whether it has a position in the log. Otherwise it has none yet.
    pub(crate) is_sealed: bool,
}

/// The events about the resources of a type in a range of identifiers, the oldest first: of each the last sealed
/// one with its whole state, and what follows it. Events that the log should have by now, and does not have,
/// attest nothing: whoever writes to the database can add such.
pub(in crate::ledger) async fn last_attesting(
    connection: &mut PgConnection,
    of: ResourceType,
    after: Uuid,
    end: Option<Uuid>,
) -> sqlx::Result<Vec<AttestingEvent>> {
    let found = sqlx::query_as::<Postgres, AttestingEvent>(
        "WITH newest AS (
             SELECT h.size, i.record_ts
               FROM audit_log_heads h
               LEFT JOIN audit_log_index i ON i.log = h.log AND i.log_index = h.size - 1
              WHERE h.log = $1
         ), known AS (
             SELECT e.resource_id, e.id, e.at, e.before IS NULL AND e.action = ANY ($4) AS is_partial,
                    EXISTS (SELECT FROM audit_log_index i
                             WHERE i.log = $1 AND i.record_id = e.id
                               AND i.log_index < (SELECT size FROM newest)) AS is_sealed,
                    row_number() OVER (PARTITION BY e.resource_id ORDER BY e.id) AS place
               FROM management_events e
              WHERE e.resource_type = $2 AND e.action = ANY ($3) AND num_nonnulls(e.before, e.after) > 0
                AND e.resource_id > $5 AND ($6::uuid IS NULL OR e.resource_id <= $6)
         ), marked AS (
             SELECT *, max(place) FILTER (WHERE is_sealed AND NOT is_partial)
                           OVER (PARTITION BY resource_id) AS last_place
               FROM known
         )
         SELECT resource_id, id, is_partial, is_sealed
           FROM marked, newest
          WHERE place >= coalesce(last_place, 1)
            AND (is_sealed OR (at < now() + interval '1 minute'
                               AND at > coalesce(record_ts, '-infinity') - interval '10 minutes'))
          ORDER BY resource_id, place",
    )
    .bind(number(Log::Management))
    .bind(of)
    .bind(attesting())
    .bind(Action::TAKING_AWAY)
    .bind(after)
    .bind(end);
    found.fetch_all(connection).await
}

/// The sealed events that attest the whole state of a resource.
pub(in crate::ledger) async fn attesting_of(
    connection: &mut PgConnection,
    of: ResourceType,
    id: Uuid,
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar(
        "SELECT id FROM management_events
          WHERE resource_type = $1 AND action = ANY ($2) AND num_nonnulls(before, after) > 0
            AND NOT (before IS NULL AND action = ANY ($3)) AND resource_id = $4",
    )
    .bind(of)
    .bind(attesting())
    .bind(Action::TAKING_AWAY)
    .bind(id)
    .fetch_all(connection)
    .await
}

fn attesting() -> Vec<Action> {
    Action::ALL.into_iter().filter(|action| action.attests()).collect()
}
