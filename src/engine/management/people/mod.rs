//! People, and the locks that cut them off.
//!
//! A lock ends the sessions and the access tokens of a person, and their admin keys are refused. An entry
//! `locked` in the table `revisions` alone has the same effect. So nothing that a lock does depends on a
//! change of other rows: who reads a session, a key or a proposal asks for the person.

mod judge;
pub mod operator;
mod store;

use utoipa::IntoParams;

use super::changes::{self, StoredRequest};
use super::check::checked;
use super::store::{lock_owners, usable_owner_keys};
use super::taking_away::people_in;
use super::{
    Action, Authorized, Change, Error, Event, Expected, ManagePeople, Page, PageRequest,
    ReadPeople, ResourceType,
};
use crate::auth;
use crate::auth::people;
pub use crate::auth::{Person, PersonStatus};
use crate::ids::{ApiKeyId, PersonId};
use crate::request;
use crate::resource::{Reason, ResourceRequest, Subject};

request! {
    /// A person who is locked before they sign in.
    pub struct UnseenPersonRequest: Person {
        /// The subject of the person, as tokens and admin keys name it.
        "Subject" subject: Subject;
        /// The reason of the lock, for people.
        "Reason" reason: Reason;
    }
}

request! {
    /// A lock of a person.
    pub struct LockRequest: PersonLock {
        /// The reason, for people.
        "Reason" reason: Reason;
    }
}

/// The filter of a list of people.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct PersonFilter {
    /// People with this status.
    pub status: Option<PersonStatus>,
}

/// The people that match `filter`, in the order in which they became known.
pub async fn list(
    context: &Authorized<ReadPeople>,
    filter: &PersonFilter,
    page: PageRequest,
) -> Result<Page<Person>, Error> {
    let rows = store::list(context.pool.rows(), filter, page).await?;
    Ok(Page::of(page, rows, |person| person.id.uuid()))
}

pub async fn read(context: &Authorized<ReadPeople>, id: PersonId) -> Result<Person, Error> {
    store::read(context.pool.rows(), id).await?.ok_or(Error::Missing(ResourceType::Person))
}

/// The people whom an administrator names by their identifier or their subject.
pub async fn named(context: &Authorized<ReadPeople>, name: &str) -> Result<Vec<PersonId>, Error> {
    people_in(&context.pool, name).await
}

/// The API keys that work and that this person created, or created with a key that they created.
pub async fn keys_made_by(
    context: &Authorized<ReadPeople>,
    person: &Person,
) -> Result<Vec<ApiKeyId>, Error> {
    let keys = store::keys_made_by(context.pool.rows(), &person.subject).await?;
    let now = context.clock.now();
    Ok(keys.into_iter().filter(|key| key.is_active_at(now)).map(|key| key.id).collect())
}

/// Locks a person who has not been seen yet.
///
/// # Errors
/// The person is known, is the author, or nobody else could act as an owner; the request is wrong, or the
/// database refuses it.
pub async fn lock_unseen(
    context: &Authorized<ManagePeople>,
    request: ResourceRequest<UnseenPersonRequest>,
) -> Result<Person, Error> {
    let mut change = context.begin().await?;
    lock_owners(change.connection()).await?;
    let mut problems = request.problems;
    let subject = request.body.subject.or_default("subject", None, &mut problems);
    let reason = request.body.reason.or_default("reason", None, &mut problems);
    let (subject, reason) = checked(problems, subject.zip(reason))?;
    let at = (PersonId::new(&context.clock, &context.entropy), change.now());
    let person = Person::named(at, context.people_issuer.clone(), subject.to_string());
    check_lock(&mut change, &person).await?;
    let person = person.locked(change.now(), change.author_name(), reason.to_string());
    if !people::make(change.rows(), &person).await? {
        let message = "the person is known: lock the person at /admin/people/{id}/lock";
        return Err(Error::Conflict(message.to_owned()));
    }
    change.commit(Event::created(&person)).await?;
    Ok(person)
}

/// Locks a person. Locking a locked person has no effect.
///
/// # Errors
/// There is none or they are not in the expected state, they are the author, or nobody else could act as an
/// owner; the request is wrong, or the database refuses it.
pub async fn lock(
    context: &Authorized<ManagePeople>,
    id: PersonId,
    expected: &Expected,
    request: ResourceRequest<LockRequest>,
) -> Result<Person, Error> {
    let mut change = context.begin().await?;
    lock_owners(change.connection()).await?;
    let before = hold(&mut change, id, expected).await?;
    let mut problems = request.problems;
    let reason = request.body.reason.or_default("reason", None, &mut problems);
    let reason = checked(problems, reason)?;
    if before.is_locked() {
        return change.change_nothing(before).await;
    }
    check_lock(&mut change, &before).await?;
    let after = before.clone().locked(change.now(), change.author_name(), reason.to_string());
    change.save(Action::Lock, before, after).await
}

/// Unlocks a person. Their sessions and access tokens from before the lock stay ended, and what they proposed
/// or approved stays without effect.
///
/// # Errors
/// There is none or they are not in the expected state, the author has an API key that they created, the change
/// needs approval, or the database refuses it.
pub async fn unlock(
    context: &Authorized<ManagePeople>,
    id: PersonId,
    expected: &Expected,
) -> Result<Person, Error> {
    let mut change = context.begin().await?;
    change.propose_as(StoredRequest::unlock(ResourceType::Person));
    let before = hold(&mut change, id, expected).await?;
    if !before.is_locked() {
        return change.change_nothing(before).await;
    }
    if change.makers().contains(&before.subject) {
        let message =
            "the person created your API key and may know it: another owner must unlock the person";
        return Err(Error::Conflict(message.to_owned()));
    }
    auth::end_of_person(change.connection(), &before).await?;
    changes::end_of_person(change.rows(), &before).await?;
    let after = before.clone().unlocked(change.now());
    change.save(Action::Unlock, before, after).await
}

/// Records the person whom a new admin key names. None if they are known.
pub(super) async fn record_named(
    change: &mut Change<'_>,
    at: PersonId,
    subject: &str,
) -> Result<Option<Person>, Error> {
    let issuer = change.people_issuer().map(str::to_owned);
    let person = Person::named((at, change.now()), issuer, subject.to_owned());
    let is_new = people::make(change.rows(), &person).await?;
    Ok(is_new.then_some(person))
}

async fn hold(change: &mut Change<'_>, id: PersonId, expected: &Expected) -> Result<Person, Error> {
    let person =
        store::lock(change.rows(), id).await?.ok_or(Error::Missing(ResourceType::Person))?;
    expected.check(person.revision)?;
    Ok(person)
}

/// Refuses to lock the author, or the last person who can act as an owner.
async fn check_lock(change: &mut Change<'_>, person: &Person) -> Result<(), Error> {
    if change.is_by_person(person) {
        return Err(Error::Conflict("you cannot lock yourself".to_owned()));
    }
    let now = change.now();
    let keys = usable_owner_keys(change.rows(), now).await?;
    let named = |subject: &Subject| **subject == *person.subject;
    if keys.iter().any(|key| !key.person.as_ref().is_some_and(named)) {
        return Ok(());
    }
    let issuer = change.people_issuer().map(str::to_owned);
    if store::has_other_owner(change.rows(), issuer.as_deref(), person.id).await? {
        return Ok(());
    }
    let message = "nobody else could act as an owner: give another person the role first";
    Err(Error::Conflict(message.to_owned()))
}
