//! `/admin/people`.

use super::answer::{Accepted, Created, Current, List};
use super::extract::{Address, CreateBody, IfMatch, NoMembers, PathId};
use super::filters::Filters;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::ids::PersonId;
use engine::management::people::{self, LockRequest, Person, PersonFilter, UnseenPersonRequest};
use engine::management::{Authorized, ManagePeople, PageRequest, ReadPeople, ResourceType};

type UnseenPerson = CreateBody<UnseenPersonRequest>;
type Lock = CreateBody<LockRequest>;

impl Address for PersonId {
    const TYPE: ResourceType = ResourceType::Person;
}

/// Lists people.
#[utoipa::path(get, path = "", operation_id = "listPeople", params(PageRequest, PersonFilter))]
pub(crate) async fn list(
    context: Authorized<ReadPeople>,
    mut filters: Filters,
) -> Result<List<Person>, ApiError> {
    let page = filters.page();
    let filter = PersonFilter { status: filters.one_of("status") };
    filters.finish()?;
    Ok(List(people::list(&context, &filter, page).await?))
}

/// Locks a person who has not been seen yet.
#[utoipa::path(
    post,
    path = "",
    operation_id = "lockUnseenPerson",
    request_body = UnseenPerson,
    responses(errors::Conflict)
)]
pub(crate) async fn lock_unseen(
    context: Authorized<ManagePeople>,
    CreateBody(request): UnseenPerson,
) -> Result<Created<Person>, ApiError> {
    Ok(Created(people::lock_unseen(&context, request).await?))
}

/// Reads a person.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readPerson",
    params(PathId<PersonId>),
    responses(errors::NotFound)
)]
pub(crate) async fn read(
    context: Authorized<ReadPeople>,
    PathId(id): PathId<PersonId>,
) -> Result<Current<Person>, ApiError> {
    Ok(Current(people::read(&context, id).await?))
}

/// Locks a person: their sessions and access tokens end, and their admin keys are refused.
#[utoipa::path(
    post,
    path = "",
    operation_id = "lockPerson",
    params(PathId<PersonId>, IfMatch),
    request_body = Lock,
    responses(errors::NotFound, errors::Conflict)
)]
pub(crate) async fn lock(
    context: Authorized<ManagePeople>,
    PathId(id): PathId<PersonId>,
    IfMatch(expected): IfMatch,
    CreateBody(request): Lock,
) -> Result<Current<Person>, ApiError> {
    Ok(Current(people::lock(&context, id, &expected, request).await?))
}

/// Unlocks a person.
#[utoipa::path(
    post,
    path = "",
    operation_id = "unlockPerson",
    params(PathId<PersonId>, IfMatch),
    request_body = NoMembers,
    responses(Accepted<'static>, errors::NotFound, errors::Conflict)
)]
pub(crate) async fn unlock(
    context: Authorized<ManagePeople>,
    PathId(id): PathId<PersonId>,
    IfMatch(expected): IfMatch,
    _: NoMembers,
) -> Result<Current<Person>, ApiError> {
    Ok(Current(people::unlock(&context, id, &expected).await?))
}
