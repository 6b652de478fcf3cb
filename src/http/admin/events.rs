//! `/admin/audit/management`.

use super::answer::List;
use super::extract::Authorized;
use super::filters::Filters;
use crate::http::error::ApiError;
use crate::management::PageRequest;
use crate::management::events::{self, Filter, Recorded, ResourceId};

/// Lists management events, newest first.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listManagementEvents",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
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
    filters.finish()?;
    Ok(List(events::list(&context, &filter, page).await?))
}
