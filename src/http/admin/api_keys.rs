//! `/admin/api-keys`.

use super::answer::{Created, Current, Gone, Listed};
use super::desk::{Addressed, Desk, IfMatch, ToCreate, ToUpdate};
use super::filters::Filters;
use crate::http::error::ApiError;
use crate::http::error_code::errors;
use crate::ids::ApiKeyId;
use crate::management::PageRequest;
use crate::management::api_keys::{self, ApiKey, ApiKeyDraft, Filter};

type NewApiKey = ToCreate<ApiKeyDraft>;
type ApiKeyChanges = ToUpdate<ApiKeyDraft>;

/// Lists API keys.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listApiKeys",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    Desk(context): Desk,
    mut filters: Filters,
) -> Result<Listed<ApiKey>, ApiError> {
    let page = filters.page();
    let filter = Filter {
        name: None,
        service_id: filters.parsed("serviceId", "this must be the id of a service"),
        kind: filters.one_of("type", "live, test, admin"),
        status: filters.one_of("status", "active, revoked, expired"),
    };
    filters.finish()?;
    Ok(Listed(api_keys::list(&context, &filter, page).await?))
}

/// Makes an API key.
#[utoipa::path(post, path = "", operation_id = "createApiKey", request_body = NewApiKey)]
pub(in crate::http) async fn create(
    Desk(context): Desk,
    ToCreate(proposal): NewApiKey,
) -> Result<Created<api_keys::Created>, ApiError> {
    Ok(Created(api_keys::create(&context, proposal).await?))
}

/// Reads an API key.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readApiKey",
    params(Addressed<ApiKeyId>),
    responses(errors::ApiKeyNotFound)
)]
pub(in crate::http) async fn read(
    Desk(context): Desk,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Current<ApiKey>, ApiError> {
    Ok(Current(api_keys::read(&context, id).await?))
}

/// Changes an API key.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateApiKey",
    params(Addressed<ApiKeyId>, IfMatch),
    request_body = ApiKeyChanges,
    responses(errors::ApiKeyNotFound, errors::Conflict)
)]
pub(in crate::http) async fn update(
    Desk(context): Desk,
    Addressed(id): Addressed<ApiKeyId>,
    IfMatch(expected): IfMatch,
    ToUpdate(proposal): ApiKeyChanges,
) -> Result<Current<ApiKey>, ApiError> {
    let api_key = api_keys::update(&context, id, &expected, proposal).await?;
    Ok(Current(api_key))
}

/// Revokes an API key. The record of it stays.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "revokeApiKey",
    params(Addressed<ApiKeyId>, IfMatch),
    responses(errors::ApiKeyNotFound, errors::Conflict)
)]
pub(in crate::http) async fn revoke(
    Desk(context): Desk,
    Addressed(id): Addressed<ApiKeyId>,
    IfMatch(expected): IfMatch,
) -> Result<Gone, ApiError> {
    api_keys::revoke(&context, id, &expected).await?;
    Ok(Gone)
}
