//! People in the database.

pub(super) mod columns;

use std::collections::BTreeSet;

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::row::OF_SUBJECT;
use super::{Person, Profile};
use crate::db::Pool;
use crate::ids::PersonId;
use crate::resource::{self, Identified as _, Rows, Touched as _, select};
use crate::seals::{Group, GroupMember, What, join, members};
use formats::clock::Timestamp;

/// Records the profile of a token. None if the row of the person does not count.
pub(super) async fn record(
    database: &Pool,
    at: (PersonId, Timestamp),
    profile: &Profile,
) -> sqlx::Result<Option<Person>> {
    let mut transaction = database.begin().await?;
    let mut rows = database.rows_on(&mut transaction);
    let mut known = lock(rows.again(), profile).await?;
    if known.is_none() {
        let new = profile.person(at);
        if make(rows.again(), &new).await? {
            see(rows.executor, new.id, at.1).await?;
            transaction.commit().await?;
            return Ok(Some(new));
        }
        // Another token of the person was first, or the row does not count.
        known = lock(rows.again(), profile).await?;
    }
    let known = match known {
        Some(known) if !known.is_locked() => known,
        locked_or_none => return Ok(locked_or_none),
    };
    see(&mut *rows.executor, known.id, at.1).await?;
    let described = known.clone().described(profile);
    let person = if described == known {
        known
    } else {
        let after = described.touched(at.1);
        resource::update(rows, &after, What::Changed).await?;
        after
    };
    transaction.commit().await?;
    Ok(Some(person))
}

async fn lock(rows: Rows<&mut PgConnection>, profile: &Profile) -> sqlx::Result<Option<Person>> {
    let found = select("WHERE issuer = $1 AND subject = $2");
    found.bind(&profile.issuer).bind(&profile.subject).lock(rows).await
}

/// Notes that a person was seen.
async fn see(database: impl PgExecutor<'_>, id: PersonId, now: Timestamp) -> sqlx::Result<()> {
    let seen = "UPDATE people SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1";
    sqlx::query(seen).bind(id).bind(now).execute(database).await?;
    Ok(())
}

pub(super) async fn read(
    rows: Rows<impl PgExecutor<'_>>,
    id: PersonId,
) -> sqlx::Result<Option<Person>> {
    select("WHERE id = $1").bind(id).fetch_optional(rows).await
}

/// Inserts the row of a new person; whether there was none. While a row with the same subject does not count,
/// it could be that of the same person, so that none is made.
pub(crate) async fn make(mut rows: Rows<&mut PgConnection>, person: &Person) -> sqlx::Result<bool> {
    let (_, are_whole) = of_subject(rows.again(), &person.subject).await?;
    let what = if person.is_locked() { What::Locked } else { What::Made };
    if !are_whole || !resource::insert_new_as(rows.again(), person, what).await? {
        return Ok(false);
    }
    join(rows.executor, with_subject(&person.subject), person.uuid()).await?;
    Ok(true)
}

/// Whether the admin keys of a person are refused: the person is locked, or a row does not count that could
/// say so.
pub(crate) async fn is_cut_off(rows: Rows<&mut PgConnection>, subject: &str) -> sqlx::Result<bool> {
    Ok(not_cut_off(rows, subject).await?.is_none())
}

/// The people with a subject; none if one is locked, or a row does not count that could say so.
pub(crate) async fn not_cut_off(
    rows: Rows<&mut PgConnection>,
    subject: &str,
) -> sqlx::Result<Option<Vec<Person>>> {
    let (people, are_whole) = of_subject(rows, subject).await?;
    let is_cut_off = !are_whole || people.iter().any(Person::is_locked);
    Ok((!is_cut_off).then_some(people))
}

/// The same, or a person was locked since that time.
pub(crate) async fn was_cut_off(
    rows: Rows<&mut PgConnection>,
    subject: &str,
    since: Timestamp,
) -> sqlx::Result<bool> {
    let (people, are_whole) = of_subject(rows, subject).await?;
    Ok(!are_whole || people.iter().any(|person| person.was_locked_since(since)))
}

/// Whether the admin keys are refused, once transactions that change the person have ended. Later ones wait for this one.
pub(crate) async fn is_cut_off_now(
    mut rows: Rows<&mut PgConnection>,
    subject: &str,
) -> sqlx::Result<bool> {
    let named = select::<Person>("WHERE subject = $1").bind(subject);
    named.lock_all("FOR SHARE", rows.again()).await?;
    is_cut_off(rows, subject).await
}

/// The people who have or had a subject, whether their rows count or not: the login of the service can rename rows. It can
/// also add any number of people, who come after those that had the subject before.
pub(crate) async fn ever_named(pool: &Pool, subject: &str) -> sqlx::Result<Vec<PersonId>> {
    let named = sqlx::query_scalar("SELECT id FROM people WHERE subject = $1");
    let named: Vec<PersonId> = named.bind(subject).fetch_all(pool).await?;
    let mut members = members(pool, with_subject(subject)).await?;
    members.sort_by_key(|member| member.first);
    let mut people: Vec<_> = members.iter().map(|it| PersonId::from_uuid(it.id)).collect();
    let known: BTreeSet<_> = people.iter().copied().collect();
    people.extend(named.into_iter().filter(|person| !known.contains(person)));
    Ok(people)
}

/// The people with a subject, of any issuer, and whether all of them have valid rows.
async fn of_subject(
    mut rows: Rows<&mut PgConnection>,
    subject: &str,
) -> sqlx::Result<(Vec<Person>, bool)> {
    let people = select::<Person>("WHERE subject = $1").bind(subject);
    let people = people.fetch_all(rows.again()).await?;
    let members = members(&mut *rows.executor, with_subject(subject)).await?;
    let are_members = people.iter().all(|it| members.iter().any(|member| member.id == it.uuid()));
    let has_row = |member: &GroupMember| people.iter().any(|person| person.uuid() == member.id);
    let without: Vec<Uuid> = members.iter().filter(|it| !has_row(it)).map(|it| it.id).collect();
    let are_whole = are_members && are_of_others(rows, subject, &without).await?;
    Ok((people, are_whole))
}

/// Whether these are people with other subjects, whom somebody named as members: a subject never changes.
async fn are_of_others(
    rows: Rows<&mut PgConnection>,
    subject: &str,
    members: &[Uuid],
) -> sqlx::Result<bool> {
    if members.is_empty() {
        return Ok(true);
    }
    let people = select::<Person>("WHERE id = ANY ($1)").bind(members).fetch_all(rows).await?;
    let others = people.iter().filter(|person| person.subject != subject).count();
    Ok(others == members.len())
}

/// The people with a subject.
fn with_subject(subject: &str) -> Group {
    Group::of(OF_SUBJECT, &[subject.as_bytes()])
}
