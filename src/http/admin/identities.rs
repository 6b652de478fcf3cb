//! `/admin/identities`.

use super::answer::{Accepted, Created, Current, List, NoContent};
use super::extract::{Address, CreateBody, IfMatch, PathId, UpdateBody};
use super::filters::Filters;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::ids::IdentityId;
use engine::management::identities::{self, IdentityFilter, IdentityRequest, WorkloadIdentity};
use engine::management::{Authorized, ManageIdentities, PageRequest, ResourceType};

type NewIdentity = CreateBody<IdentityRequest>;
type IdentityChanges = UpdateBody<IdentityRequest>;

impl Address for IdentityId {
    const TYPE: ResourceType = ResourceType::Identity;
}

/// Lists workload identities.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listIdentities",
    params(PageRequest, IdentityFilter)
)]
pub(crate) async fn list(
    context: Authorized<ManageIdentities>,
    mut filters: Filters,
) -> Result<List<WorkloadIdentity>, ApiError> {
    let page = filters.page();
    let filter = IdentityFilter {
        name: filters.text("name"),
        name_contains: filters.text("nameContains"),
        service_id: filters.id("serviceId"),
        status: filters.one_of("status"),
    };
    filters.finish()?;
    Ok(List(identities::list(&context, &filter, page).await?))
}

/// Creates a workload identity.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createIdentity",
    request_body = NewIdentity,
    responses(Accepted<'static>)
)]
pub(crate) async fn create(
    context: Authorized<ManageIdentities>,
    CreateBody(request): NewIdentity,
) -> Result<Created<WorkloadIdentity>, ApiError> {
    Ok(Created(identities::create(&context, request).await?))
}

/// Reads a workload identity.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readIdentity",
    params(PathId<IdentityId>),
    responses(errors::IdentityNotFound)
)]
pub(crate) async fn read(
    context: Authorized<ManageIdentities>,
    PathId(id): PathId<IdentityId>,
) -> Result<Current<WorkloadIdentity>, ApiError> {
    Ok(Current(identities::read(&context, id).await?))
}

/// Changes a workload identity.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateIdentity",
    params(PathId<IdentityId>, IfMatch),
    request_body = IdentityChanges,
    responses(Accepted<'static>, errors::IdentityNotFound, errors::Conflict)
)]
pub(crate) async fn update(
    context: Authorized<ManageIdentities>,
    PathId(id): PathId<IdentityId>,
    IfMatch(expected): IfMatch,
    UpdateBody(request): IdentityChanges,
) -> Result<Current<WorkloadIdentity>, ApiError> {
    let identity = identities::update(&context, id, &expected, request).await?;
    Ok(Current(identity))
}

/// Changes the given members of a workload identity.
#[utoipa::path(
    patch,
    path = "",
    operation_id = "patchIdentity",
    params(PathId<IdentityId>, IfMatch),
    request_body(content = IdentityChanges, content_type = "application/merge-patch+json"),
    responses(Accepted<'static>, errors::IdentityNotFound, errors::Conflict)
)]
pub(crate) async fn patch(
    context: Authorized<ManageIdentities>,
    id: PathId<IdentityId>,
    expected: IfMatch,
    changes: IdentityChanges,
) -> Result<Current<WorkloadIdentity>, ApiError> {
    update(context, id, expected, changes).await
}

/// Deletes a workload identity.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deleteIdentity",
    params(PathId<IdentityId>, IfMatch),
    responses(Accepted<'static>, errors::IdentityNotFound, errors::Conflict)
)]
pub(crate) async fn delete(
    context: Authorized<ManageIdentities>,
    PathId(id): PathId<IdentityId>,
    IfMatch(expected): IfMatch,
) -> Result<NoContent, ApiError> {
    identities::delete(&context, id, &expected).await?;
    Ok(NoContent)
}
