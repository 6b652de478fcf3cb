//! Checks of a request that depend on several members or on the database.

use sqlx::PgConnection;

use super::{ApiKey, ApiKeyRequest, store};
use crate::auth::{ApiKeyType, Role, Roles};
use crate::ids::ServiceId;
use crate::management::{check, policies, services};
use crate::resource::{Member, Rows};
use formats::clock::Timestamp;
use formats::problem::{Code, Problem, Problems};

/// Checks a request for a new API key, or for a change of `before`. Services and policies that it names
/// cannot be deleted until the transaction ends.
pub(super) async fn check(
    mut rows: Rows<&mut PgConnection>,
    problems: &mut Problems,
    now: Timestamp,
    before: Option<&ApiKey>,
    body: &mut ApiKeyRequest,
) -> sqlx::Result<()> {
    let kind = before.map_or(body.r#type.given().copied(), |before| Some(before.r#type));
    if before.is_none() {
        service(rows.again().executor, problems, kind, &body.service_id).await?;
    }
    match kind {
        Some(ApiKeyType::Admin) => {
            refuse_runtime_members(problems, body);
            roles(problems, before.is_none(), &mut body.roles);
        }
        Some(ApiKeyType::Live | ApiKeyType::Test) => refuse_admin_members(problems, body),
        None => {}
    }
    policies::find_bound(rows, problems, &mut body.policy_number).await?;
    let expires_at = before.and_then(|before| before.expires_at);
    check::expiry(problems, now, expires_at, &body.expires_at);
    Ok(())
}

async fn service(
    connection: &mut PgConnection,
    problems: &mut Problems,
    kind: Option<ApiKeyType>,
    service: &Member<Option<ServiceId>>,
) -> sqlx::Result<()> {
    const FIELD: &str = "serviceId";
    match (kind, service) {
        (None, _)
        | (_, Member::Wrong)
        | (Some(ApiKeyType::Admin), Member::Absent | Member::Given(None)) => {}
        (Some(ApiKeyType::Admin), Member::Given(Some(_))) => {
            let message = "must be left out of an admin key";
            problems.note(Problem::new(FIELD, Code::Conflict, message));
        }
        (Some(ApiKeyType::Live | ApiKeyType::Test), Member::Absent | Member::Given(None)) => {
            problems.note(Problem::required(FIELD));
        }
        (Some(ApiKeyType::Live | ApiKeyType::Test), Member::Given(Some(id))) => {
            services::check_living(connection, problems, &[(FIELD.to_owned(), *id)]).await?;
        }
    }
    Ok(())
}

/// Checks that an admin key keeps a role. A new one is an owner by default.
fn roles(problems: &mut Problems, is_new: bool, roles: &mut Member<Roles>) {
    match roles {
        Member::Absent if is_new => *roles = Member::Given(Roles::from_iter([Role::Owner])),
        Member::Given(given) if given.is_empty() => {
            let message = "must have at least one role";
            problems.note(Problem::new("roles", Code::Length, message));
        }
        Member::Given(_) | Member::Absent | Member::Wrong => {}
    }
}

/// Notes the person of a key whose creator has no person: the creator sees the key and may be any person.
pub(super) fn refuse_person(problems: &mut Problems, body: &ApiKeyRequest) {
    if matches!(body.person, Member::Given(Some(_))) {
        let message = "must be left out, because the creator of the key has no person";
        problems.note(Problem::new("person", Code::Conflict, message));
    }
}

/// Notes a person who never signed in at this issuer. A name that nobody has proven could be a second one of the
/// creator, who then approves alone.
pub(super) async fn refuse_unknown_person(
    rows: Rows<&mut PgConnection>,
    problems: &mut Problems,
    issuer: &str,
    body: &ApiKeyRequest,
) -> sqlx::Result<()> {
    if let Member::Given(Some(person)) = &body.person
        && !store::is_confirmed(rows, issuer, person).await?
    {
        let message = "must be the subject of a person who has signed in";
        problems.note(Problem::new("person", Code::Unknown, message));
    }
    Ok(())
}

/// Notes members that only admin keys have.
fn refuse_admin_members(problems: &mut Problems, body: &ApiKeyRequest) {
    let has_roles = body.roles.given().is_some_and(|roles| !roles.is_empty());
    let has_person = matches!(body.person, Member::Given(Some(_)));
    for (field, is_given) in [("roles", has_roles), ("person", has_person)] {
        if is_given {
            let message = "must be left out of live and test keys";
            problems.note(Problem::new(field, Code::Conflict, message));
        }
    }
}

/// Notes members that admin keys do not have, as they do not call the runtime API.
fn refuse_runtime_members(problems: &mut Problems, body: &mut ApiKeyRequest) {
    let mut refuse = |field: &str| {
        let message = "must be left out of an admin key";
        problems.note(Problem::new(field, Code::Conflict, message));
    };
    if body.policy_number.given().is_some_and(|bound| bound.number().is_some()) {
        refuse("policyNumber");
        body.policy_number = Member::Wrong;
    }
    if matches!(body.allowed_operations, Member::Given(Some(_))) {
        refuse("allowedOperations");
    }
}
