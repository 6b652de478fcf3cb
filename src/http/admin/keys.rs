//! `/admin/keys`.

use axum::extract::State;

use super::answer::{Created, Current, Gone, Listed, Made};
use super::desk::{Addressed, Desk, IfMatch, ToCreate, ToUpdate};
use super::filters::Filters;
use crate::http::app::App;
use crate::http::error::ApiError;
use crate::http::error_code::errors;
use crate::ids::KeyId;
use crate::keys::Key;
use crate::management::PageRequest;
use crate::management::keys::{
    self, Filter, ImportParameters, ImportParametersDraft, KeyDraft, NewKeyDraft, Rules,
};

type NewKey = ToCreate<NewKeyDraft>;
type KeyChanges = ToUpdate<KeyDraft>;
type NewImportParameters = ToCreate<ImportParametersDraft>;

/// Lists keys.
#[utoipa::path(get, path = "", operation_id = "listKeys", params(PageRequest, Filter))]
pub(in crate::http) async fn list(
    Desk(context): Desk,
    mut filters: Filters,
) -> Result<Listed<Key>, ApiError> {
    let page = filters.page();
    let filter = Filter {
        name: None,
        service_id: filters.parsed("serviceId", "this must be the id of a service"),
        usage: filters.one_of("use", "enc, sig, data"),
        status: filters.one_of(
            "status",
            "active, retired, disabled, pending_destruction, destroyed",
        ),
    };
    filters.finish()?;
    Ok(Listed(keys::list(&context, filter, page).await?))
}

/// Makes a key.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createKey",
    request_body = NewKey,
    responses(errors::OperationNotAllowed, errors::Conflict)
)]
pub(in crate::http) async fn create(
    Desk(context): Desk,
    State(app): State<App>,
    ToCreate(proposal): NewKey,
) -> Result<Created<Key>, ApiError> {
    let key = keys::create(&context, &app.vault, rules(&app), proposal).await?;
    Ok(Created(key))
}

/// Makes a key to wrap another one with, for its import.
#[utoipa::path(
    post,
    path = "",
    operation_id = "createImportParameters",
    request_body = NewImportParameters
)]
pub(in crate::http) async fn import_parameters(
    Desk(context): Desk,
    State(app): State<App>,
    ToCreate(proposal): NewImportParameters,
) -> Result<Made<ImportParameters>, ApiError> {
    let made = keys::create_import_parameters(&context, &app.vault, proposal).await?;
    Ok(Made(made))
}

/// Reads a key.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readKey",
    params(Addressed<KeyId>),
    responses(errors::KeyNotFound)
)]
pub(in crate::http) async fn read(
    Desk(context): Desk,
    Addressed(id): Addressed<KeyId>,
) -> Result<Current<Key>, ApiError> {
    Ok(Current(keys::read(&context, id).await?))
}

/// Changes a key.
#[utoipa::path(
    put,
    path = "",
    operation_id = "updateKey",
    params(Addressed<KeyId>, IfMatch),
    request_body = KeyChanges,
    responses(errors::KeyNotFound, errors::Conflict)
)]
pub(in crate::http) async fn update(
    Desk(context): Desk,
    Addressed(id): Addressed<KeyId>,
    IfMatch(expected): IfMatch,
    ToUpdate(proposal): KeyChanges,
) -> Result<Current<Key>, ApiError> {
    let key = keys::update(&context, id, &expected, proposal).await?;
    Ok(Current(key))
}

/// Has a key destroyed, after a delay in which it can be brought back.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "deleteKey",
    params(Addressed<KeyId>, IfMatch),
    responses(errors::KeyNotFound, errors::Conflict)
)]
pub(in crate::http) async fn delete(
    Desk(context): Desk,
    State(app): State<App>,
    Addressed(id): Addressed<KeyId>,
    IfMatch(expected): IfMatch,
) -> Result<Gone, ApiError> {
    keys::delete(&context, rules(&app), id, &expected).await?;
    Ok(Gone)
}

fn rules(app: &App) -> Rules {
    Rules {
        destruction_delay: app.settings.keys.destruction_delay.0,
        plaintext_import: app.settings.plaintext_import_allowed(),
    }
}
