//! `/admin/audit/management`.

use super::answer::Listed;
use super::desk::Desk;
use super::filters::Filters;
use crate::http::error::ApiError;
use crate::management::PageRequest;
use crate::management::events::{self, Filter, Recorded, ResourceId};

const TIME: &str = "this must be a time as 2030-01-31T12:00:00.000Z";

/// Lists what administrators changed, newest first.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listManagementEvents",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    Desk(context): Desk,
    mut filters: Filters,
) -> Result<Listed<Recorded>, ApiError> {
    let page = filters.page();
    let resource_id: Option<ResourceId> =
        filters.parsed("resourceId", "this must be the id of a resource");
    let filter = Filter {
        request_id: filters.text("requestId"),
        api_key_id: filters.parsed("apiKeyId", "this must be the id of an API key"),
        action: filters.text("action"),
        resource_type: filters.text("resourceType"),
        resource_id,
        from: filters.parsed("from", TIME),
        to: filters.parsed("to", TIME),
    };
    filters.finish()?;
    Ok(Listed(events::list(&context, &filter, page).await?))
}
