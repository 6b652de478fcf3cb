//! `/admin/api-keys`.

use super::answer::{Accepted, Created, Current, List, NoContent};
use super::extract::{Address, CreateBody, IfMatch, PathId, UpdateBody};
use super::filters::Filters;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::ids::ApiKeyId;
use engine::management::api_keys::{self, ApiKey, ApiKeyFilter, ApiKeyRequest};
use engine::management::{Authorized, ManageApiKeys, PageRequest, ResourceType};

type NewApiKey = CreateBody<ApiKeyRequest>;
type ApiKeyChanges = UpdateBody<ApiKeyRequest>;

impl Address for ApiKeyId {
    const TYPE: ResourceType = ResourceType::ApiKey;
}

/// Lists API keys.
#[utoipa::path(get, path = "", operation_id = "listApiKeys", params(PageRequest, ApiKeyFilter))]
pub(crate) async fn list(
    context: Authorized<ManageApiKeys>,
    mut filters: Filters,
) -> Result<List<ApiKey>, ApiError> {
    let page = filters.page();
    let filter = ApiKeyFilter {
        name: filters.text("name"),
        name_contains: filters.text("nameContains"),
        service_id: filters.id("serviceId"),
        kind: filters.one_of("type"),
        status: filters.one_of("status"),
    };
    filters.finish()?;
    Ok(List(api_keys::list(&context, &filter, page).await?))
}

/// Creates an API key.
#[utoipa::path(post, path = "", operation_id = "createApiKey", request_body = NewApiKey, responses(Accepted<'static>))]
pub(crate) async fn create(
    context: Authorized<ManageApiKeys>,
    CreateBody(request): NewApiKey,
) -> Result<Created<api_keys::Created>, ApiError> {
    Ok(Created(api_keys::create(&context, request).await?))
}

/// Reads an API key.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readApiKey",
    params(PathId<ApiKeyId>),
    responses(errors::ApiKeyNotFound)
)]
pub(crate) async fn read(
    context: Authorized<ManageApiKeys>,
    PathId(id): PathId<ApiKeyId>,
) -> Result<Current<ApiKey>, ApiError> {
    Ok(Current(api_keys::read(&context, id).await?))
}

/// Changes an API key.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateApiKey",
    params(PathId<ApiKeyId>, IfMatch),
    request_body = ApiKeyChanges,
    responses(Accepted<'static>, errors::ApiKeyNotFound, errors::Conflict)
)]
pub(crate) async fn update(
    context: Authorized<ManageApiKeys>,
    PathId(id): PathId<ApiKeyId>,
    IfMatch(expected): IfMatch,
    UpdateBody(request): ApiKeyChanges,
) -> Result<Current<ApiKey>, ApiError> {
    let api_key = api_keys::update(&context, id, &expected, request).await?;
    Ok(Current(api_key))
}

/// Changes the given members of an API key.
#[utoipa::path(
    patch,
    path = "",
    operation_id = "patchApiKey",
    params(PathId<ApiKeyId>, IfMatch),
    request_body(content = ApiKeyChanges, content_type = "application/merge-patch+json"),
    responses(Accepted<'static>, errors::ApiKeyNotFound, errors::Conflict)
)]
pub(crate) async fn patch(
    context: Authorized<ManageApiKeys>,
    id: PathId<ApiKeyId>,
    expected: IfMatch,
    changes: ApiKeyChanges,
) -> Result<Current<ApiKey>, ApiError> {
    update(context, id, expected, changes).await
}

/// Revokes an API key and keeps its record.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "revokeApiKey",
    params(PathId<ApiKeyId>, IfMatch),
    responses(errors::ApiKeyNotFound, errors::Conflict)
)]
pub(crate) async fn revoke(
    context: Authorized<ManageApiKeys>,
    PathId(id): PathId<ApiKeyId>,
    IfMatch(expected): IfMatch,
) -> Result<NoContent, ApiError> {
    api_keys::revoke(&context, id, &expected).await?;
    Ok(NoContent)
}
