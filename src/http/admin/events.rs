//! `/admin/audit/management`.

use axum::extract::State;

use super::answer::List;
use super::extract::Authorized;
use super::filters::Filters;
use crate::catalog::Unreadable;
use crate::http::app::App;
use crate::http::error::ApiError;
use crate::management::PageRequest;
use crate::management::events::{self, Filter, Recorded, ResourceId};
use crate::management::security::Log;

/// Lists management events, newest first.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listManagementEvents",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    State(app): State<App>,
    Authorized(context): Authorized,
    mut filters: Filters,
) -> Result<List<Recorded>, ApiError> {
    let page = filters.page();
    let resource_id: Option<ResourceId> = filters.id("resourceId");
    let filter = Filter {
        request_id: filters.text("requestId"),
        api_key_id: filters.id("apiKeyId"),
        action: filters.one_of("action"),
        resource_type: filters.one_of("resourceType"),
        resource_id,
        from: filters.time("from"),
        to: filters.time("to"),
    };
    let query = filters.finish()?;
    let recorded = app
        .security
        .record_read(&context.actor, Log::Management, None, &query);
    recorded.await.map_err(Unreadable::from)?;
    Ok(List(events::list(&context, &filter, page).await?))
}
