//! `/admin/keys`.

use axum::extract::State;

use super::answer::{Accepted, Created, CreatedWithoutPath, Current, List, NoContent};
use super::extract::{Address, CreateBody, IfMatch, PathId, UpdateBody};
use super::filters::Filters;
use crate::app::{App, AppState};
use crate::error::ApiError;
use crate::error_code::errors;
use engine::ids::KeyId;
use engine::keys::Key;
use engine::management::changes::TokenAccess;
use engine::management::keys::{
    self, ImportParameters, ImportParametersRequest, KeyFilter, KeyRequest, KeyRules, KeyUpdate,
};
use engine::management::{Authorized, ManageKeys, PageRequest, ReadResources, ResourceType};

type NewKey = CreateBody<KeyRequest>;
type KeyChanges = UpdateBody<KeyUpdate>;
type NewImportParameters = CreateBody<ImportParametersRequest>;

impl Address for KeyId {
    const TYPE: ResourceType = ResourceType::Key;
}

/// Lists keys.
#[utoipa::path(get, path = "", operation_id = "listKeys", params(PageRequest, KeyFilter))]
pub(crate) async fn list(
    context: Authorized<ReadResources>,
    mut filters: Filters,
) -> Result<List<Key>, ApiError> {
    let page = filters.page();
    let filter = KeyFilter {
        name: filters.text("name"),
        name_contains: filters.text("nameContains"),
        service_id: filters.id("serviceId"),
        usage: filters.one_of("use"),
        status: filters.one_of("status"),
    };
    filters.finish()?;
    Ok(List(keys::list(&context, filter, page).await?))
}

/// Creates a key.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createKey",
    request_body = NewKey,
    responses(Accepted<'static>, errors::OperationNotAllowed, errors::Conflict)
)]
pub(crate) async fn create(
    context: Authorized<ManageKeys>,
    State(App(app)): State<App>,
    CreateBody(request): NewKey,
) -> Result<Created<Key>, ApiError> {
    let key = keys::create(&context, &app.vault, rules(&app), request).await?;
    Ok(Created(key))
}

/// Creates an import key, which wraps a key for its import.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createImportParameters",
    request_body = NewImportParameters
)]
pub(crate) async fn import_parameters(
    context: Authorized<ManageKeys>,
    State(App(app)): State<App>,
    CreateBody(request): NewImportParameters,
) -> Result<CreatedWithoutPath<ImportParameters>, ApiError> {
    let made = keys::create_import_parameters(&context, &app.vault, request).await?;
    Ok(CreatedWithoutPath(made))
}

/// Reads a key.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readKey",
    params(PathId<KeyId>),
    responses(errors::KeyNotFound)
)]
pub(crate) async fn read(
    context: Authorized<ReadResources>,
    PathId(id): PathId<KeyId>,
) -> Result<Current<Key>, ApiError> {
    Ok(Current(keys::read(&context, id).await?))
}

/// Changes a key.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateKey",
    params(PathId<KeyId>, IfMatch),
    request_body = KeyChanges,
    responses(
        Accepted<'static>,
        errors::OperationNotAllowed,
        errors::KeyNotFound,
        errors::Conflict
    )
)]
pub(crate) async fn update(
    context: Authorized<ManageKeys>,
    State(App(app)): State<App>,
    PathId(id): PathId<KeyId>,
    IfMatch(expected): IfMatch,
    UpdateBody(request): KeyChanges,
) -> Result<Current<Key>, ApiError> {
    let key = keys::update(&context, &app.vault, rules(&app), id, &expected, request).await?;
    Ok(Current(key))
}

/// Changes the given members of a key.
#[utoipa::path(
    patch,
    path = "",
    operation_id = "patchKey",
    params(PathId<KeyId>, IfMatch),
    request_body(content = KeyChanges, content_type = "application/merge-patch+json"),
    responses(
        Accepted<'static>,
        errors::OperationNotAllowed,
        errors::KeyNotFound,
        errors::Conflict
    )
)]
pub(crate) async fn patch(
    context: Authorized<ManageKeys>,
    app: State<App>,
    id: PathId<KeyId>,
    expected: IfMatch,
    changes: KeyChanges,
) -> Result<Current<Key>, ApiError> {
    update(context, app, id, expected, changes).await
}

/// Deletes a key. It is destroyed after a delay, and can be restored until then.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deleteKey",
    params(PathId<KeyId>, IfMatch),
    responses(Accepted<'static>, errors::KeyNotFound, errors::Conflict)
)]
pub(crate) async fn delete(
    context: Authorized<ManageKeys>,
    State(App(app)): State<App>,
    PathId(id): PathId<KeyId>,
    IfMatch(expected): IfMatch,
) -> Result<NoContent, ApiError> {
    keys::delete(&context, rules(&app), id, &expected).await?;
    Ok(NoContent)
}

/// The access to tokens that an approved change needs.
pub(super) fn token(app: &AppState) -> TokenAccess {
    TokenAccess { vault: app.vault.clone(), rules: rules(app) }
}

fn rules(app: &AppState) -> KeyRules {
    KeyRules::of(&app.engine.settings)
}
