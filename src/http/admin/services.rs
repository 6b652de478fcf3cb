//! `/admin/services`.

use super::answer::{Accepted, Created, Current, List, NoContent};
use super::extract::{Address, CreateBody, IfMatch, PathId, UpdateBody};
use super::filters::Filters;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::ids::ServiceId;
use engine::management::services::{self, Service, ServiceFilter, ServiceRequest};
use engine::management::{Authorized, ManagePolicies, PageRequest, ReadResources, ResourceType};

type NewService = CreateBody<ServiceRequest>;
type ServiceChanges = UpdateBody<ServiceRequest>;

impl Address for ServiceId {
    const TYPE: ResourceType = ResourceType::Service;
}

/// Lists services.
#[utoipa::path(get, path = "", operation_id = "listServices", params(PageRequest, ServiceFilter))]
pub(crate) async fn list(
    context: Authorized<ReadResources>,
    mut filters: Filters,
) -> Result<List<Service>, ApiError> {
    let page = filters.page();
    let filter = ServiceFilter {
        name: filters.text("name"),
        name_contains: filters.text("nameContains"),
        status: filters.one_of("status"),
    };
    filters.finish()?;
    Ok(List(services::list(&context, &filter, page).await?))
}

/// Creates a service.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createService",
    request_body = NewService,
    responses(errors::Conflict)
)]
pub(crate) async fn create(
    context: Authorized<ManagePolicies>,
    CreateBody(request): NewService,
) -> Result<Created<Service>, ApiError> {
    Ok(Created(services::create(&context, request).await?))
}

/// Reads a service.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readService",
    params(PathId<ServiceId>),
    responses(errors::ServiceNotFound)
)]
pub(crate) async fn read(
    context: Authorized<ReadResources>,
    PathId(id): PathId<ServiceId>,
) -> Result<Current<Service>, ApiError> {
    Ok(Current(services::read(&context, id).await?))
}

/// Changes a service.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateService",
    params(PathId<ServiceId>, IfMatch),
    request_body = ServiceChanges,
    responses(Accepted<'static>, errors::ServiceNotFound, errors::Conflict)
)]
pub(crate) async fn update(
    context: Authorized<ManagePolicies>,
    PathId(id): PathId<ServiceId>,
    IfMatch(expected): IfMatch,
    UpdateBody(request): ServiceChanges,
) -> Result<Current<Service>, ApiError> {
    let service = services::update(&context, id, &expected, request).await?;
    Ok(Current(service))
}

/// Changes the given members of a service.
#[utoipa::path(
    patch,
    path = "",
    operation_id = "patchService",
    params(PathId<ServiceId>, IfMatch),
    request_body(content = ServiceChanges, content_type = "application/merge-patch+json"),
    responses(Accepted<'static>, errors::ServiceNotFound, errors::Conflict)
)]
pub(crate) async fn patch(
    context: Authorized<ManagePolicies>,
    id: PathId<ServiceId>,
    expected: IfMatch,
    changes: ServiceChanges,
) -> Result<Current<Service>, ApiError> {
    update(context, id, expected, changes).await
}

/// Deletes a service that nothing refers to.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deleteService",
    params(PathId<ServiceId>, IfMatch),
    responses(errors::ServiceNotFound, errors::Conflict)
)]
pub(crate) async fn delete(
    context: Authorized<ManagePolicies>,
    PathId(id): PathId<ServiceId>,
    IfMatch(expected): IfMatch,
) -> Result<NoContent, ApiError> {
    services::delete(&context, id, &expected).await?;
    Ok(NoContent)
}
