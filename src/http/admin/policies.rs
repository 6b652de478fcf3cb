//! `/admin/policies`.

use super::answer::{Accepted, Created, Current, List, NoContent};
use super::extract::{Address, CreateBody, IfMatch, PathId, RestoreBody, UpdateBody};
use super::filters::Filters;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::management::policies::{self, Policy, PolicyFilter, PolicyName};
use engine::management::{Authorized, ManagePolicies, PageRequest, ReadResources, ResourceType};
use engine::policy::PolicyRequest;

type NewPolicy = CreateBody<PolicyRequest>;
type PolicyChanges = UpdateBody<PolicyRequest>;
type PolicyRestoration = RestoreBody<PolicyRequest>;

impl Address for PolicyName {
    const TYPE: ResourceType = ResourceType::Policy;
}

/// Lists policies, or those that are deleted.
#[utoipa::path(get, path = "", operation_id = "listPolicies", params(PageRequest, PolicyFilter))]
pub(crate) async fn list(
    context: Authorized<ReadResources>,
    mut filters: Filters,
) -> Result<List<Policy>, ApiError> {
    let page = filters.page();
    let filter = PolicyFilter {
        name: filters.text("name"),
        name_contains: filters.text("nameContains"),
        text: None,
        status: filters.one_of("status"),
        destination_service_id: filters.id("destinationServiceId"),
        deleted: filters.flag("deleted"),
    };
    filters.finish()?;
    Ok(List(policies::list(&context, &filter, page).await?))
}

/// Creates a policy.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createPolicy",
    request_body = NewPolicy,
    responses(Accepted<'static>, errors::Conflict)
)]
pub(crate) async fn create(
    context: Authorized<ManagePolicies>,
    CreateBody(request): NewPolicy,
) -> Result<Created<Policy>, ApiError> {
    Ok(Created(policies::create(&context, request).await?))
}

/// Reads a policy.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readPolicy",
    params(PathId<PolicyName>),
    responses(errors::PolicyNotFound)
)]
pub(crate) async fn read(
    context: Authorized<ReadResources>,
    PathId(name): PathId<PolicyName>,
) -> Result<Current<Policy>, ApiError> {
    Ok(Current(policies::read(&context, &name).await?))
}

/// Changes a policy.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updatePolicy",
    params(PathId<PolicyName>, IfMatch),
    request_body = PolicyChanges,
    responses(Accepted<'static>, errors::PolicyNotFound, errors::Conflict)
)]
pub(crate) async fn update(
    context: Authorized<ManagePolicies>,
    PathId(name): PathId<PolicyName>,
    IfMatch(expected): IfMatch,
    UpdateBody(request): PolicyChanges,
) -> Result<Current<Policy>, ApiError> {
    let policy = policies::update(&context, &name, &expected, request).await?;
    Ok(Current(policy))
}

/// Changes the given members of a policy.
#[utoipa::path(
    patch,
    path = "",
    operation_id = "patchPolicy",
    params(PathId<PolicyName>, IfMatch),
    request_body(content = PolicyChanges, content_type = "application/merge-patch+json"),
    responses(Accepted<'static>, errors::PolicyNotFound, errors::Conflict)
)]
pub(crate) async fn patch(
    context: Authorized<ManagePolicies>,
    id: PathId<PolicyName>,
    expected: IfMatch,
    changes: PolicyChanges,
) -> Result<Current<Policy>, ApiError> {
    update(context, id, expected, changes).await
}

/// Deletes a policy that nothing refers to. It goes on deciding about its envelopes.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deletePolicy",
    params(PathId<PolicyName>, IfMatch),
    responses(errors::PolicyNotFound, errors::Conflict)
)]
pub(crate) async fn delete(
    context: Authorized<ManagePolicies>,
    PathId(name): PathId<PolicyName>,
    IfMatch(expected): IfMatch,
) -> Result<NoContent, ApiError> {
    policies::delete(&context, &name, &expected).await?;
    Ok(NoContent)
}

/// Restores a deleted policy with the given changes. It becomes inactive, and its envelopes can be opened
/// under it at once.
#[utoipa::path(
    post,
    path = "",
    operation_id = "restorePolicy",
    params(PathId<PolicyName>, IfMatch),
    request_body(content(
        (PolicyRestoration = "application/json"),
        (PolicyRestoration = "application/merge-patch+json")
    )),
    responses(Accepted<'static>, errors::PolicyNotFound, errors::Conflict)
)]
pub(crate) async fn restore(
    context: Authorized<ManagePolicies>,
    PathId(name): PathId<PolicyName>,
    IfMatch(expected): IfMatch,
    RestoreBody(request): PolicyRestoration,
) -> Result<Current<Policy>, ApiError> {
    Ok(Current(policies::restore(&context, &name, &expected, request).await?))
}
