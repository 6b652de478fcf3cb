//! What an operator on the machine takes away without a token: entries of the table `revisions`, which have
//! their effect although no row is written.

use super::{Action, Actor, Error, Event, ResourceType, System, store};
use crate::auth::{ApiKey, Emergency, Person, Service};
use crate::ids::{ApiKeyId, EventId, KeyId, PersonId, ServiceId};
use crate::keys::Key;
use crate::resource::Stored as _;
use crate::seals::{RowName, What, add_entry, newest_entry};

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

/// Takes it away, with the login of the service alone. Returns whether it was there.
///
/// # Errors
/// There is no such resource, or the database refuses it.
pub async fn take_away(system: &System, taken: TakingAway) -> Result<bool, Error> {
    let (row, what) = taken.entry();
    let (of, action) = taken.event();
    // Another session with the login can hold a lock or occupy the next revision: this takes no lock, and a
    // revision that cannot be guessed.
    let mut transaction = system.pool.begin().await?;
    let newest = newest_entry(&mut *transaction, row).await?;
    let newest = match newest {
        Some(entry) if entry.what == what => return Ok(false),
        // The switch is never deleted: an entry that says so is not ours, and does not stop an operator.
        Some(entry) if entry.what != What::Gone || taken == TakingAway::Everything => {
            entry.revision
        }
        // Before the first freeze, the switch has no entry.
        None if taken == TakingAway::Everything => 0,
        Some(_) | None => return Err(Error::Missing(of)),
    };
    let gap = i64::from(u16::from_be_bytes(system.entropy.bytes()));
    add_entry(&mut transaction, row, newest.saturating_add(gap).saturating_add(1), what).await?;
    let event = Event { resource_id: Some(row.id), ..Event::bare(action, of) };
    let (id, now) = (EventId::new(&system.clock, &system.entropy), system.clock.now());
    let actor = Actor::system(system.name);
    store::insert_event(&mut transaction, id, now, &actor, event, None).await?;
    transaction.commit().await?;
    Ok(true)
}

/// The people whom an operator names by their identifier or their subject.
///
/// # Errors
/// There is none, or the database does not answer.
pub async fn people_named(system: &System, name: &str) -> Result<Vec<PersonId>, Error> {
    if let Ok(id) = name.parse() {
        return Ok(vec![id]);
    }
    let people = store::people_of(&system.pool, name).await?;
    if people.is_empty() { Err(Error::Missing(ResourceType::Person)) } else { Ok(people) }
}

impl TakingAway {
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
