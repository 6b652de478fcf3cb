//! Who proposes and approves changes, in the database.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::auth::{ApiKey, Person, Role, Roles, people};
use crate::resource::{Rows, select};
use formats::clock::Timestamp;

/// The people who may know an API key besides its own person; nobody for a person who signed in. None while
/// the row does not count.
pub(in crate::management::changes) async fn known_to(
    mut rows: Rows<&mut PgConnection>,
    id: Uuid,
) -> sqlx::Result<Option<Vec<String>>> {
    let api_key = select::<ApiKey>("WHERE id = $1").bind(id).fetch_optional(rows.again()).await?;
    if let Some(api_key) = api_key {
        return Ok(Some(api_key.known_to));
    }
    let person = select::<Person>("WHERE id = $1").bind(id).fetch_optional(rows).await?;
    Ok(person.map(|_| Vec::new()))
}

/// Whether one of these people is known only by access tokens and another only by ID tokens. They can be
/// one person.
pub(in crate::management::changes) async fn can_be_one(
    mut rows: Rows<&mut PgConnection>,
    subjects: &[String],
) -> sqlx::Result<bool> {
    let mut known = Vec::new();
    for subject in subjects {
        match people::not_cut_off(rows.again(), subject).await? {
            Some(people) => known.extend(people),
            // A row that does not count could say so.
            None => return Ok(true),
        }
    }
    let is_one_of = |is_one: fn(&Person) -> bool| known.iter().any(is_one);
    Ok(is_one_of(|person| person.by_id_token && !person.by_access_token)
        && is_one_of(|person| person.by_access_token && !person.by_id_token))
}

/// Those of these valid API keys and people that have a role of each of these lists, and whose people were not
/// locked since the time of each.
pub(in crate::management::changes) async fn with_roles(
    mut rows: Rows<&mut PgConnection>,
    signatures: &[(Option<Uuid>, Timestamp)],
    lists: &[&[Role]],
    now: Timestamp,
) -> sqlx::Result<Vec<Uuid>> {
    let mut able = Vec::new();
    for (id, at) in signatures.iter().filter_map(|(id, at)| Some(((*id)?, *at))) {
        let roles = roles_since(rows.again(), id, at, now).await?;
        able.extend(roles.filter(|roles| lists.iter().all(|list| roles.meet(list))).map(|_| id));
    }
    Ok(able)
}

/// The roles of an API key or a person that is valid and whose people were not locked since.
async fn roles_since(
    mut rows: Rows<&mut PgConnection>,
    id: Uuid,
    since: Timestamp,
    now: Timestamp,
) -> sqlx::Result<Option<Roles>> {
    let api_key = select::<ApiKey>("WHERE id = $1").bind(id).fetch_optional(rows.again()).await?;
    if let Some(api_key) = api_key {
        let was_cut_off = match &api_key.person {
            Some(person) => people::was_cut_off(rows, person, since).await?,
            None => false,
        };
        return Ok((api_key.is_active_at(now) && !was_cut_off).then_some(api_key.roles));
    }
    let person = select::<Person>("WHERE id = $1").bind(id).fetch_optional(rows).await?;
    Ok(person.filter(|person| !person.was_locked_since(since)).map(|person| person.roles))
}

/// How many different people who are not locked have one of these roles, by a valid admin key or by their last
/// sign-in.
pub(in crate::management::changes) async fn people(
    database: impl PgExecutor<'_>,
    roles: &[Role],
    now: Timestamp,
) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT count(DISTINCT person) FROM (
             SELECT person FROM api_keys
              WHERE roles && $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
                AND NOT EXISTS (SELECT FROM locked_people WHERE subject = person)
              UNION ALL
             SELECT subject FROM people
              WHERE roles && $1 AND is_confirmed
                AND NOT EXISTS (SELECT FROM locked_people WHERE locked_people.id = people.id)) AS able",
    )
    .bind(roles)
    .bind(now)
    .fetch_one(database)
    .await
}

/// The people of valid admin keys who are not known by a token of this issuer.
pub(in crate::management::changes) async fn unknown_people(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    issuer: &str,
) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT DISTINCT person FROM api_keys
          WHERE person IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
            AND NOT EXISTS (SELECT FROM people
                             WHERE issuer = $2 AND subject = api_keys.person AND is_confirmed)
          ORDER BY person",
    )
    .bind(now)
    .bind(issuer)
    .fetch_all(database)
    .await
}
