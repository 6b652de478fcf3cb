//! The events that say in which state a resource is.

use sqlx::{PgConnection, Postgres};
use uuid::Uuid;

use super::{RecordKey, clock, signed_number};
use crate::ledger::Log;
use crate::ledger::sweep::AHEAD;
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
/// attest nothing: the login of the service can add such. Of those that it adds, the sealer makes the segment. So an
/// event attests a whole state, and is waited for, only if its transaction wrote its segment, which then has its name.
/// Events whose segments are `foreign` attest nothing.
pub(in crate::ledger) async fn last_attesting(
    connection: &mut PgConnection,
    of: ResourceType,
    (after, end): (Uuid, Option<Uuid>),
    foreign: &[Uuid],
) -> sqlx::Result<Vec<AttestingEvent>> {
    let found = sqlx::query_as::<Postgres, AttestingEvent>(
        "WITH newest AS (
             SELECT audit_id_time(p.segment) AS record_ts
               FROM audit_log_heads h
               LEFT JOIN audit_log_positions p ON p.log = h.log AND p.base + p.count = h.size AND p.base < h.size
              WHERE h.log = $1
         ), known AS (
             SELECT e.resource_id, e.id, e.at, e.before IS NULL AND e.action = ANY ($4) AS is_partial,
                    sealed.segment IS NOT NULL AS is_sealed,
                    row_number() OVER (PARTITION BY e.resource_id ORDER BY e.id) AS place
               FROM management_events e
               LEFT JOIN LATERAL (
                    SELECT segment FROM audit_log_places($1, e.id) ORDER BY segment <> e.id LIMIT 1
               ) AS sealed ON true
              WHERE e.resource_type = $2 AND e.action = ANY ($3) AND num_nonnulls(e.before, e.after) > 0
                AND e.resource_id > $5 AND ($6::uuid IS NULL OR e.resource_id <= $6)
                AND e.id <> ALL ($7)
                AND ((e.before IS NULL AND e.action = ANY ($4)) OR coalesce(sealed.segment = e.id, true))
         ), marked AS (
             SELECT *, max(place) FILTER (WHERE is_sealed AND NOT is_partial)
                           OVER (PARTITION BY resource_id) AS last_place
               FROM known
         )
         SELECT resource_id, id, is_partial, is_sealed
           FROM marked, newest
          WHERE place >= coalesce(last_place, 1)
            AND (is_sealed OR (at < now() + interval '1 minute'
                               AND at > least(coalesce(record_ts, '-infinity'), now()) - interval '10 minutes'
                               AND (is_partial OR EXISTS (
                                    SELECT FROM audit_log_segments s WHERE s.log = $1 AND s.id = marked.id))))
          ORDER BY resource_id, place",
    )
    .bind(Log::Management.number())
    .bind(of)
    .bind(attesting())
    .bind(Action::TAKING_AWAY)
    .bind(after)
    .bind(end)
    .bind(foreign);
    found.fetch_all(connection).await
}

/// The sealed events that attest the whole state of a resource, without those whose segments are `foreign`.
pub(in crate::ledger) async fn attesting_of(
    connection: &mut PgConnection,
    of: ResourceType,
    id: Uuid,
    foreign: &[Uuid],
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar(
        "SELECT id FROM management_events e
          WHERE resource_type = $1 AND action = ANY ($2) AND num_nonnulls(before, after) > 0
            AND NOT (before IS NULL AND action = ANY ($3)) AND resource_id = $4 AND id <> ALL ($6)
            AND EXISTS (SELECT FROM audit_log_places($5, e.id) AS sealed WHERE sealed.segment = e.id)",
    )
    .bind(of)
    .bind(attesting())
    .bind(Action::TAKING_AWAY)
    .bind(id)
    .bind(Log::Management.number())
    .bind(foreign)
    .fetch_all(connection)
    .await
}

/// The newest changes among which one without a position is looked for, and the newest segments with a position that
/// can be later than it.
const NEWEST: i64 = 4_096;

/// Whether one of the newest changes has no position in the first `size` of the log. The transaction of a change writes
/// its segment: what the login of the service adds without one is no change, and nothing waits for identifiers of the
/// future, which no instance with a right clock writes. Other events do not count, so that many of them hide no change.
pub(in crate::ledger) async fn lacks_changes(
    connection: &mut PgConnection,
    size: u64,
) -> sqlx::Result<bool> {
    let soon = clock::now(&mut *connection).await?.plus(AHEAD);
    sqlx::query_scalar(
        "SELECT EXISTS (
             SELECT FROM (SELECT id FROM management_events
                           WHERE id < $5 AND action = ANY ($2)
                             AND id > coalesce((SELECT segment FROM audit_log_positions WHERE log = $3
                                                 ORDER BY base DESC OFFSET $1 LIMIT 1), $6)
                           ORDER BY id DESC LIMIT $1) AS e
              WHERE EXISTS (SELECT FROM audit_log_segments s WHERE s.log = $3 AND s.id = e.id)
                AND NOT EXISTS (SELECT FROM audit_log_places($3, id) AS place WHERE place.log_index < $4))",
    )
    .bind(NEWEST)
    .bind(attesting())
    .bind(Log::Management.number())
    .bind(signed_number(size))
    .bind(RecordKey { ts: soon, id: Uuid::nil() }.first_id())
    .bind(Uuid::nil())
    .fetch_one(connection)
    .await
}

fn attesting() -> Vec<Action> {
    Action::ALL.into_iter().filter(|action| action.attests()).collect()
}
