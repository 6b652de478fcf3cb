//! Writes rows of resources, from their declarations, and the record of each change.

use sqlx::types::Json;
use sqlx::{FromRow, PgConnection};

use super::changes::Proposal;
use super::{Actor, Event};
use crate::auth::Roles;
use crate::db::sql;
use crate::ids::EventId;
use crate::resource::{Columns, Stored};
use formats::clock::Timestamp;

/// The author of a change, as the database knows it.
#[derive(Clone, Debug, FromRow)]
pub(super) struct Author {
    pub(super) roles: Roles,
    pub(super) person: Option<String>,
    /// The other people who may know the API key.
    pub(super) known_to: Vec<String>,
}

const OF_API_KEY: &str =
    "SELECT roles, person, known_to FROM api_keys WHERE id = $1 AND revoked_at IS NULL
                             AND (expires_at IS NULL OR expires_at > $2) ";
const OF_PERSON: &str = "SELECT roles, CASE WHEN is_confirmed THEN subject END AS person,
                                ARRAY[]::text[] AS known_to
                           FROM people WHERE id = $1 ";

/// The author, unless the API key is revoked or expired. None for the service itself.
pub(super) async fn author(
    connection: &mut PgConnection,
    actor: &Actor,
    now: Timestamp,
) -> sqlx::Result<Option<Author>> {
    read_author(connection, actor, now, "").await
}

/// The same, once transactions that change the credential have ended. Later ones wait for this one.
pub(super) async fn lock_author(
    connection: &mut PgConnection,
    actor: &Actor,
    now: Timestamp,
) -> sqlx::Result<Option<Author>> {
    read_author(connection, actor, now, "FOR SHARE").await
}

async fn read_author(
    connection: &mut PgConnection,
    actor: &Actor,
    now: Timestamp,
    lock: &'static str,
) -> sqlx::Result<Option<Author>> {
    let author = match (actor.api_key_id, &actor.person) {
        (Some(id), _) => sqlx::query_as(sql([OF_API_KEY, lock])).bind(id).bind(now),
        (None, Some(person)) => sqlx::query_as(sql([OF_PERSON, lock])).bind(person.id()),
        (None, None) => return Ok(None),
    };
    author.fetch_optional(connection).await
}

/// Inserts a resource with these columns, unless it conflicts with another row; whether it did so.
pub(super) async fn insert<R: Stored>(
    connection: &mut PgConnection,
    resource: &R,
    columns: Columns,
) -> sqlx::Result<bool> {
    let columns = columns.with("id", resource.uuid());
    columns.insert_new(connection, R::TABLE).await
}

/// Writes a changed resource.
pub(super) async fn update<R: Stored>(
    connection: &mut PgConnection,
    resource: &R,
) -> sqlx::Result<()> {
    let columns = resource.columns();
    columns.update(connection, R::TABLE, resource.uuid()).await
}

/// Leaves a tombstone in place of a resource.
pub(super) async fn delete<R: Stored>(
    connection: &mut PgConnection,
    resource: &R,
    now: Timestamp,
) -> sqlx::Result<()> {
    let delete =
        sql(["UPDATE ", R::TABLE, " SET deleted_at = $2, revision = revision + 1 WHERE id = $1"]);
    sqlx::query(delete).bind(resource.uuid()).bind(now).execute(connection).await?;
    Ok(())
}

/// Records an event: a change, in the transaction of the change. A read with the digest of a recorded
/// read is not recorded again. `approved` is the change whose approval made it.
pub(super) async fn insert_event(
    connection: &mut PgConnection,
    id: EventId,
    now: Timestamp,
    actor: &Actor,
    event: Event,
    approved: Option<&Proposal>,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO management_events (id, at, api_key_id, actor, action, resource_type,
                                        resource_id, before, after, client_address, request_id,
                                        read_digest, change_id, approved_by, person_issuer,
                                        person_subject)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::inet, $11, $12, $13, $14, $15, $16)
         ON CONFLICT (read_digest) WHERE read_digest IS NOT NULL DO NOTHING",
    )
    .bind(id)
    .bind(now)
    .bind(actor.api_key_id)
    .bind(&actor.name)
    .bind(event.action)
    .bind(event.resource_type)
    .bind(event.resource_id)
    .bind(event.before.map(Json))
    .bind(event.after.map(Json))
    .bind(actor.client_address.map(|address| address.to_string()))
    .bind(actor.request_id.as_deref())
    .bind(event.read_digest)
    .bind(approved.map(|change| change.id))
    .bind(approved.map(Proposal::approvers))
    .bind(actor.person.as_ref().map(|person| person.issuer()))
    .bind(actor.person.as_ref().map(|person| person.subject()))
    .execute(connection)
    .await?;
    Ok(())
}
