//! `/admin/changes`.

use axum::extract::State;

use super::answer::{List, NoContent, WithoutEtag};
use super::extract::{Address, DecisionBody, PathId};
use super::filters::Filters;
use super::keys::token;
use crate::app::App;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::ids::ChangeId;
use engine::management::changes::{self, ChangeFilter, DecisionRequest, Proposal};
use engine::management::{Authorized, PageRequest, ReadResources, ResourceType};

type Decision = DecisionBody<DecisionRequest>;

impl Address for ChangeId {
    const TYPE: ResourceType = ResourceType::Change;
}

/// Lists changes that need or needed approval.
#[utoipa::path(get, path = "", operation_id = "listChanges", params(PageRequest, ChangeFilter))]
pub(crate) async fn list(
    context: Authorized<ReadResources>,
    mut filters: Filters,
) -> Result<List<Proposal>, ApiError> {
    let page = filters.page();
    let filter =
        ChangeFilter { status: filters.one_of("status"), action: filters.one_of("action") };
    filters.finish()?;
    Ok(List(changes::list(&context, &filter, page).await?))
}

/// Reads a change.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readChange",
    params(PathId<ChangeId>),
    responses(errors::ChangeNotFound)
)]
pub(crate) async fn read(
    context: Authorized<ReadResources>,
    PathId(id): PathId<ChangeId>,
) -> Result<WithoutEtag<Proposal>, ApiError> {
    Ok(WithoutEtag(changes::read(&context, id).await?))
}

/// Approves a change. The last approval makes it.
#[utoipa::path(
    post,
    path = "",
    operation_id = "approveChange",
    params(PathId<ChangeId>),
    request_body = Decision,
    responses(errors::ChangeNotFound, errors::Conflict)
)]
pub(crate) async fn approve(
    context: Authorized<ReadResources>,
    State(App(app)): State<App>,
    PathId(id): PathId<ChangeId>,
    DecisionBody(request): Decision,
) -> Result<WithoutEtag<Proposal>, ApiError> {
    let approved = changes::approve(&context, token(&app), id, request).await?;
    Ok(WithoutEtag(approved))
}

/// Rejects a change.
#[utoipa::path(
    post,
    path = "",
    operation_id = "rejectChange",
    params(PathId<ChangeId>),
    request_body = Decision,
    responses(errors::ChangeNotFound, errors::Conflict)
)]
pub(crate) async fn reject(
    context: Authorized<ReadResources>,
    PathId(id): PathId<ChangeId>,
    DecisionBody(request): Decision,
) -> Result<WithoutEtag<Proposal>, ApiError> {
    Ok(WithoutEtag(changes::reject(&context, id, request).await?))
}

/// Withdraws a change. Only its proposer can do this.
#[utoipa::path(
    delete,
    path = "",
    operation_id = "withdrawChange",
    params(PathId<ChangeId>),
    responses(errors::ChangeNotFound, errors::Conflict)
)]
pub(crate) async fn withdraw(
    context: Authorized<ReadResources>,
    PathId(id): PathId<ChangeId>,
) -> Result<NoContent, ApiError> {
    changes::withdraw(&context, id).await?;
    Ok(NoContent)
}
