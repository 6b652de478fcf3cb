//! `/admin/services`.

use super::answer::{Created, Current, Gone, Listed};
use super::desk::{Addressed, Desk, IfMatch, ToCreate, ToUpdate};
use super::filters::Filters;
use crate::http::error::ApiError;
use crate::http::error_code::errors;
use crate::ids::ServiceId;
use crate::management::PageRequest;
use crate::management::services::{self, Filter, Service, ServiceDraft};

type NewService = ToCreate<ServiceDraft>;
type ServiceChanges = ToUpdate<ServiceDraft>;

/// Lists services.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listServices",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    Desk(context): Desk,
    mut filters: Filters,
) -> Result<Listed<Service>, ApiError> {
    let page = filters.page();
    let filter = Filter {
        name: filters.text("name"),
    };
    filters.finish()?;
    Ok(Listed(services::list(&context, &filter, page).await?))
}

/// Makes a service.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createService",
    request_body = NewService,
    responses(errors::Conflict)
)]
pub(in crate::http) async fn create(
    Desk(context): Desk,
    ToCreate(proposal): NewService,
) -> Result<Created<Service>, ApiError> {
    Ok(Created(services::create(&context, proposal).await?))
}

/// Reads a service.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readService",
    params(Addressed<ServiceId>),
    responses(errors::ServiceNotFound)
)]
pub(in crate::http) async fn read(
    Desk(context): Desk,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Current<Service>, ApiError> {
    Ok(Current(services::read(&context, id).await?))
}

/// Changes a service.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateService",
    params(Addressed<ServiceId>, IfMatch),
    request_body = ServiceChanges,
    responses(errors::ServiceNotFound, errors::Conflict)
)]
pub(in crate::http) async fn update(
    Desk(context): Desk,
    Addressed(id): Addressed<ServiceId>,
    IfMatch(expected): IfMatch,
    ToUpdate(proposal): ServiceChanges,
) -> Result<Current<Service>, ApiError> {
    let service = services::update(&context, id, &expected, proposal).await?;
    Ok(Current(service))
}

/// Deletes a service. What something live refers to is not deleted.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deleteService",
    params(Addressed<ServiceId>, IfMatch),
    responses(errors::ServiceNotFound, errors::Conflict)
)]
pub(in crate::http) async fn delete(
    Desk(context): Desk,
    Addressed(id): Addressed<ServiceId>,
    IfMatch(expected): IfMatch,
) -> Result<Gone, ApiError> {
    services::delete(&context, id, &expected).await?;
    Ok(Gone)
}
