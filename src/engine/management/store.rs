//! The authors of changes, and the record of each change.

use sqlx::types::Json;
use sqlx::{Connection as _, PgConnection};

use super::changes::Proposal;
use super::{Actor, Event, events};
use crate::auth::{ApiKey, Person, Role, Roles, people};
use crate::ids::EventId;
use crate::resource::{Rows, select};
use crate::seals::RowKey;
use crate::segments::{self, Log, SegmentRows, hash_of};
use formats::clock::Timestamp;

/// The author of a change, as the database knows it.
#[derive(Clone, Debug)]
pub(super) struct Author {
    pub(super) roles: Roles,
    pub(super) person: Option<String>,
    /// The other people who may know the API key.
    pub(super) known_to: Vec<String>,
    /// The people who created the API key.
    pub(super) made_by: Vec<String>,
}

/// The author, unless the API key is revoked or expired, or the person is locked. None for the service itself.
pub(super) async fn author(
    mut rows: Rows<&mut PgConnection>,
    actor: &Actor,
    now: Timestamp,
) -> sqlx::Result<Option<Author>> {
    if let Some(id) = actor.api_key_id {
        let api_key = select("WHERE id = $1").bind(id).fetch_optional(rows.again()).await?;
        let author = api_key.and_then(|api_key| Author::of(api_key, now));
        let is_cut_off = match author.as_ref().and_then(|author| author.person.as_deref()) {
            Some(person) => people::is_cut_off(rows, person).await?,
            None => false,
        };
        return Ok(author.filter(|_| !is_cut_off));
    }
    let Some(person) = &actor.person else {
        return Ok(None);
    };
    let person: Option<Person> =
        select("WHERE id = $1").bind(person.id()).fetch_optional(rows).await?;
    Ok(person.and_then(Author::of_person))
}

/// The same, once transactions that change the credential have ended. Later ones wait for this one.
pub(super) async fn lock_author(
    mut rows: Rows<&mut PgConnection>,
    actor: &Actor,
    now: Timestamp,
) -> sqlx::Result<Option<Author>> {
    if let Some(id) = actor.api_key_id {
        let api_key = select("WHERE id = $1").bind(id).lock_all("FOR SHARE", rows.again()).await?;
        let author = api_key.into_iter().next().and_then(|api_key| Author::of(api_key, now));
        let is_cut_off = match author.as_ref().and_then(|author| author.person.as_deref()) {
            Some(person) => people::is_cut_off_now(rows, person).await?,
            None => false,
        };
        return Ok(author.filter(|_| !is_cut_off));
    }
    let Some(person) = &actor.person else {
        return Ok(None);
    };
    let person: Vec<Person> =
        select("WHERE id = $1").bind(person.id()).lock_all("FOR SHARE", rows).await?;
    Ok(person.into_iter().next().and_then(Author::of_person))
}

impl Author {
    fn of(api_key: ApiKey, now: Timestamp) -> Option<Self> {
        let is_active = api_key.is_active_at(now);
        is_active.then(|| Self {
            roles: api_key.roles,
            person: api_key.person.map(|person| person.to_string()),
            known_to: api_key.known_to,
            made_by: api_key.made_by,
        })
    }

    fn of_person(person: Person) -> Option<Self> {
        let is_active = !person.is_locked();
        is_active.then(|| Self {
            roles: person.roles,
            person: person.is_confirmed.then_some(person.subject),
            known_to: Vec::new(),
            made_by: Vec::new(),
        })
    }
}

/// Lets the statements of a transaction fail that wait for a lock.
pub(super) async fn limit_waiting(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SET LOCAL lock_timeout = '1s'").execute(connection).await?;
    Ok(())
}

/// The advisory lock of transactions that can take away an owner.
const OWNERS: i64 = 0x5ea1_3a8d_0026;

/// Waits for other transactions that change admin keys or lock people. Two of them could otherwise take away
/// the last two owners, or wait for each other: each holds the row that it changes, and its event refers to
/// the credential of its author.
pub(super) async fn lock_owners(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(OWNERS).execute(connection).await?;
    Ok(())
}

/// The owner keys that are neither revoked nor expired at `now`, and whose people are not locked.
pub(super) async fn usable_owner_keys(
    mut rows: Rows<&mut PgConnection>,
    now: Timestamp,
) -> sqlx::Result<Vec<ApiKey>> {
    let keys = select::<ApiKey>("WHERE $1 = ANY (roles) AND revoked_at IS NULL").bind(Role::Owner);
    let mut usable = Vec::new();
    for key in keys.fetch_all(rows.again()).await? {
        let is_cut_off = match &key.person {
            Some(person) => people::is_cut_off(rows.again(), person).await?,
            None => false,
        };
        if key.is_active_at(now) && !is_cut_off {
            usable.push(key);
        }
    }
    Ok(usable)
}

/// Records an event and its segment: a change, in the transaction of the change. A read with the digest of a
/// recorded read is not recorded again. `approved` is the change whose approval made it.
pub(crate) async fn insert_event(
    rows: Rows<&mut PgConnection>,
    id: EventId,
    now: Timestamp,
    actor: &Actor,
    event: Event,
    approved: Option<&Proposal>,
) -> sqlx::Result<()> {
    let mut transaction = rows.executor.begin().await?;
    let inserted = sqlx::query(
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
    .bind(actor.person.as_ref().and_then(|person| person.issuer()))
    .bind(actor.person.as_ref().map(|person| person.subject()))
    .execute(&mut *transaction)
    .await?;
    if inserted.rows_affected() > 0
        && let Some(key) = rows.seals.current()
    {
        add_segment(&mut transaction, id, &key).await?;
    }
    transaction.commit().await
}

/// The segment of an event. The leaf is that of the stored event: Postgres writes states in its own form.
async fn add_segment(connection: &mut PgConnection, id: EventId, key: &RowKey) -> sqlx::Result<()> {
    let event = events::written(&mut *connection, id).await?;
    let leaf = hash_of(Log::Management, &event).map(|hash| (id.uuid(), hash));
    let made = segments::segments(Log::Management, leaf.into_iter().collect(), key, |last| last);
    segments::insert(connection, SegmentRows::new(Log::Management, made, key)).await?;
    Ok(())
}
