//! What an operator on the machine takes away without a token: entries of the table `revisions`, which have
//! their effect although no row is written.

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Action, Actor, Authorized, Context, Error, Event, FreezeEverything, ResourceType, System, store,
};
use crate::auth::{ApiKey, Emergency, Person, PersonStatus, Service, ServiceStatus, people};
use crate::db::{Pool, is_ended};
use crate::ids::{ApiKeyId, EventId, KeyId, PersonId, ServiceId};
use crate::keys::{Key, KeyStatus};
use crate::resource::Stored as _;
use crate::seals::{Entry, RowName, What, add_entry, newest_entry};
use formats::clock::Timestamp;

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakingAway {
    /// Everything is frozen.
    Everything,
    /// A service is frozen.
    Service(ServiceId),
    /// A key is disabled.
    Key(KeyId),
    /// An API key is revoked.
    ApiKey(ApiKeyId),
    /// A person is locked.
    Person(PersonId),
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is taken away by this entry.
    Now(Entry),
    /// It was before.
    Before(Entry),
}

impl Taken {
    /// The entry that takes it away.
    pub(super) fn entry(self) -> Entry {
        match self {
            Self::Now(entry) | Self::Before(entry) => entry,
        }
    }
}

/// How often a session of the database is tried that another one ends.
const ATTEMPTS: u32 = 20;

/// Takes it away, with the login of the service alone. Returns whether it was there.
///
/// # Errors
/// There is no such resource, or the database refuses it.
pub async fn take_away(system: &System, taken: TakingAway) -> Result<bool, Error> {
    let context: Authorized<FreezeEverything> = system.authorize();
    let taken = taken.carry_out(&context, &context.actor).await?;
    Ok(matches!(taken, Taken::Now(_)))
}

/// The people whom an operator names by their identifier or their subject.
///
/// # Errors
/// There is none, or the database does not answer.
pub async fn people_named(system: &System, name: &str) -> Result<Vec<PersonId>, Error> {
    people_in(&system.pool, name).await
}

/// The same in this database.
pub(super) async fn people_in(pool: &Pool, name: &str) -> Result<Vec<PersonId>, Error> {
    if let Ok(id) = name.parse() {
        return Ok(vec![id]);
    }
    let people = people::ever_named(pool, name).await?;
    if people.is_empty() {
        return Err(Error::Missing(ResourceType::Person));
    }
    Ok(people)
}

impl TakingAway {
    /// Takes it away in the name of `actor`. Another session of the database can hold a lock or occupy the next
    /// revision: this takes no lock, refers to no row, and its revision cannot be guessed.
    pub(super) async fn carry_out(self, context: &Context, actor: &Actor) -> Result<Taken, Error> {
        let mut attempt = 1;
        loop {
            match self.attempt(context, actor).await {
                // Another session with the login of the service can cancel statements and end sessions.
                Err(Error::Database(error)) if attempt < ATTEMPTS && is_ended(&error) => {
                    attempt += 1
                }
                carried_out => return carried_out,
            }
        }
    }

    async fn attempt(self, context: &Context, actor: &Actor) -> Result<Taken, Error> {
        let (row, what) = self.entry();
        let (of, action) = self.event();
        // A login can make its own transactions read-only by default.
        let mut transaction = context.pool.begin_to_write().await?;
        let newest = match newest_entry(&mut *transaction, row).await? {
            Some(entry) if entry.what == what => return Ok(Taken::Before(entry)),
            // Only the row of a service is ever deleted: another entry that says so is not ours, and does not stop an
            // operator.
            Some(entry) if entry.what != What::Gone || !matches!(self, Self::Service(_)) => {
                entry.revision
            }
            // Before the first freeze, the switch has no entry.
            None if self == Self::Everything => 0,
            Some(_) | None => return Err(Error::Missing(of)),
        };
        let [a, b, c] = context.entropy.bytes();
        let gap = i64::from(u32::from_be_bytes([0, a, b, c]));
        let revision = newest.saturating_add(gap).saturating_add(1);
        let entry = add_entry(&mut transaction, row, revision, what).await?;
        let event = Event { resource_id: Some(row.id), ..Event::bare(action, of) };
        let event = Event { after: self.lost(entry.at), ..event };
        let (id, now) = (EventId::new(&context.clock, &context.entropy), context.clock.now());
        let actor = Actor { api_key_id: None, ..actor.clone() };
        let rows = context.pool.rows_on(&mut transaction);
        store::insert_event(rows, id, now, &actor, event, None).await?;
        transaction.commit().await?;
        Ok(Taken::Now(entry))
    }

    /// The members that the resource loses, as events have them.
    fn lost(self, at: Timestamp) -> Option<Box<RawValue>> {
        let lost = match self {
            Self::Everything | Self::Service(_) => json!({ "status": ServiceStatus::Frozen }),
            Self::Key(_) => json!({ "status": KeyStatus::Disabled }),
            Self::ApiKey(_) => json!({ "revokedAt": at }),
            Self::Person(_) => json!({ "status": PersonStatus::Locked, "lockedAt": at }),
        };
        to_raw_value(&lost).ok()
    }

    /// The row, and what it loses.
    fn entry(self) -> (RowName, What) {
        let (table, id, what) = match self {
            Self::Everything => (Emergency::TABLE, Emergency::ID, What::Frozen),
            Self::Service(id) => (Service::TABLE, id.uuid(), What::Frozen),
            Self::Key(id) => (Key::TABLE, id.uuid(), What::Disabled),
            Self::ApiKey(id) => (ApiKey::TABLE, id.uuid(), What::Revoked),
            Self::Person(id) => (Person::TABLE, id.uuid(), What::Locked),
        };
        (RowName { table, id }, what)
    }

    fn event(self) -> (ResourceType, Action) {
        match self {
            Self::Everything => (ResourceType::Emergency, Action::Freeze),
            Self::Service(_) => (ResourceType::Service, Action::Freeze),
            Self::Key(_) => (ResourceType::Key, Action::Disable),
            Self::ApiKey(_) => (ResourceType::ApiKey, Action::Revoke),
            Self::Person(_) => (ResourceType::Person, Action::Lock),
        }
    }
}
