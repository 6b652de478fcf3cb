//! `/admin/services`.

use super::answer::{Created, Current, List, NoContent};
use super::extract::{Authorized, CreateBody, IfMatch, PathId, UpdateBody};
use super::filters::Filters;
use crate::http::error::ApiError;
use crate::http::error_code::errors;
use crate::ids::ServiceId;
use crate::management::PageRequest;
use crate::management::services::{self, Filter, Service, ServiceRequest};

type NewService = CreateBody<ServiceRequest>;
type ServiceChanges = UpdateBody<ServiceRequest>;

/// Lists services.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listServices",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    Authorized(context): Authorized,
    mut filters: Filters,
) -> Result<List<Service>, ApiError> {
    let page = filters.page();
    let filter = Filter {
        name: filters.text("name"),
        name_contains: filters.text("nameContains"),
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
pub(in crate::http) async fn create(
    Authorized(context): Authorized,
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
pub(in crate::http) async fn read(
    Authorized(context): Authorized,
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
    responses(errors::ServiceNotFound, errors::Conflict)
)]
pub(in crate::http) async fn update(
    Authorized(context): Authorized,
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
    responses(errors::ServiceNotFound, errors::Conflict)
)]
pub(in crate::http) async fn patch(
    authorized: Authorized,
    id: PathId<ServiceId>,
    expected: IfMatch,
    changes: ServiceChanges,
) -> Result<Current<Service>, ApiError> {
    update(authorized, id, expected, changes).await
}

/// Deletes a service that nothing refers to.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deleteService",
    params(PathId<ServiceId>, IfMatch),
    responses(errors::ServiceNotFound, errors::Conflict)
)]
pub(in crate::http) async fn delete(
    Authorized(context): Authorized,
    PathId(id): PathId<ServiceId>,
    IfMatch(expected): IfMatch,
) -> Result<NoContent, ApiError> {
    services::delete(&context, id, &expected).await?;
    Ok(NoContent)
}
