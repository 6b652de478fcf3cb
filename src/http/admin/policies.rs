//! `/admin/policies`.

use super::answer::{Created, Current, Gone, Listed};
use super::desk::{Addressed, Desk, IfMatch, ToCreate, ToUpdate};
use super::filters::Filters;
use crate::http::error::ApiError;
use crate::http::error_code::errors;
use crate::management::PageRequest;
use crate::management::policies::{self, Filter, Name, Policy, PolicyDraft};

type NewPolicy = ToCreate<PolicyDraft>;
type PolicyChanges = ToUpdate<PolicyDraft>;

/// Lists policies.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listPolicies",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    Desk(context): Desk,
    mut filters: Filters,
) -> Result<Listed<Policy>, ApiError> {
    let page = filters.page();
    let filter = Filter {
        text: None,
        status: filters.one_of("status", "active, inactive"),
        destination_service_id: filters
            .parsed("destinationServiceId", "this must be the id of a service"),
    };
    filters.finish()?;
    Ok(Listed(policies::list(&context, &filter, page).await?))
}

/// Makes a policy.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createPolicy",
    request_body = NewPolicy,
    responses(errors::Conflict)
)]
pub(in crate::http) async fn create(
    Desk(context): Desk,
    ToCreate(proposal): NewPolicy,
) -> Result<Created<Policy>, ApiError> {
    Ok(Created(policies::create(&context, proposal).await?))
}

/// Reads a policy.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readPolicy",
    params(Addressed<Name>),
    responses(errors::PolicyNotFound)
)]
pub(in crate::http) async fn read(
    Desk(context): Desk,
    Addressed(name): Addressed<Name>,
) -> Result<Current<Policy>, ApiError> {
    Ok(Current(policies::read(&context, &name).await?))
}

/// Changes a policy.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updatePolicy",
    params(Addressed<Name>, IfMatch),
    request_body = PolicyChanges,
    responses(errors::PolicyNotFound, errors::Conflict)
)]
pub(in crate::http) async fn update(
    Desk(context): Desk,
    Addressed(name): Addressed<Name>,
    IfMatch(expected): IfMatch,
    ToUpdate(proposal): PolicyChanges,
) -> Result<Current<Policy>, ApiError> {
    let policy = policies::update(&context, &name, &expected, proposal).await?;
    Ok(Current(policy))
}

/// Deletes a policy. What something live refers to is not deleted.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deletePolicy",
    params(Addressed<Name>, IfMatch),
    responses(errors::PolicyNotFound, errors::Conflict)
)]
pub(in crate::http) async fn delete(
    Desk(context): Desk,
    Addressed(name): Addressed<Name>,
    IfMatch(expected): IfMatch,
) -> Result<Gone, ApiError> {
    policies::delete(&context, &name, &expected).await?;
    Ok(Gone)
}
