//! The authors of changes, and the record of each change.

use sqlx::PgConnection;
use sqlx::types::Json;

use super::changes::Proposal;
use super::{Actor, Event};
use crate::auth::{ApiKey, Person, Roles};
use crate::ids::EventId;
use crate::resource::{Rows, select};
use formats::clock::Timestamp;

/// The author of a change, as the database knows it.
#[derive(Clone, Debug)]
pub(super) struct Author {
    pub(super) roles: Roles,
    pub(super) person: Option<String>,
    /// The other people who may know the API key.
    pub(super) known_to: Vec<String>,
}

/// The author, unless the API key is revoked or expired. None for the service itself.
pub(super) async fn author(
    rows: Rows<&mut PgConnection>,
    actor: &Actor,
    now: Timestamp,
) -> sqlx::Result<Option<Author>> {
    if let Some(id) = actor.api_key_id {
        let api_key = select("WHERE id = $1").bind(id).fetch_optional(rows).await?;
        return Ok(api_key.and_then(|api_key| Author::of(api_key, now)));
    }
    let Some(person) = &actor.person else {
        return Ok(None);
    };
    let person: Option<Person> =
        select("WHERE id = $1").bind(person.id()).fetch_optional(rows).await?;
    Ok(person.map(Author::of_person))
}

/// The same, once transactions that change the credential have ended. Later ones wait for this one.
pub(super) async fn lock_author(
    rows: Rows<&mut PgConnection>,
    actor: &Actor,
    now: Timestamp,
) -> sqlx::Result<Option<Author>> {
    if let Some(id) = actor.api_key_id {
        let api_key = select("WHERE id = $1").bind(id).lock_all("FOR SHARE", rows).await?;
        return Ok(api_key.into_iter().next().and_then(|api_key| Author::of(api_key, now)));
    }
    let Some(person) = &actor.person else {
        return Ok(None);
    };
    let person: Vec<Person> =
        select("WHERE id = $1").bind(person.id()).lock_all("FOR SHARE", rows).await?;
    Ok(person.into_iter().next().map(Author::of_person))
}

impl Author {
    fn of(api_key: ApiKey, now: Timestamp) -> Option<Self> {
        let is_active = api_key.is_active_at(now);
        is_active.then(|| Self {
            roles: api_key.roles,
            person: api_key.person.map(|person| person.to_string()),
            known_to: api_key.known_to,
        })
    }

    fn of_person(person: Person) -> Self {
        Self {
            roles: person.roles,
            person: person.is_confirmed.then_some(person.subject),
            known_to: Vec::new(),
        }
    }
}

/// Records an event: a change, in the transaction of the change. A read with the digest of a recorded
/// read is not recorded again. `approved` is the change whose approval made it.
pub(crate) async fn insert_event(
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
