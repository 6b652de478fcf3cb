//! `/admin/audit/management`.

use axum::extract::State;

use super::accept::Accept;
use super::answer::List;
use super::export::{Order, RecordsAnswer, in_log_order, wanted};
use super::filters::Filters;
use crate::app::App;
use crate::error::ApiError;
use engine::audit::{Export, Format};
use engine::catalog::Unreadable;
use engine::ledger::Log;
use engine::management::events::{self, EventFilter, ManagementLog, ResourceId};
use engine::management::security::{LogRead, Selection};
use engine::management::{Authorized, PageRequest, ReadAudit};

/// Lists management events, newest first, or exports all that match.
///
/// With `Accept: text/csv` or `application/x-ndjson`, the response contains all matching events and
/// ignores `limit` and `cursor`.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listManagementEvents",
    params(PageRequest, EventFilter, ("order" = Option<Order>, Query))
)]
pub(crate) async fn list(
    State(App(app)): State<App>,
    context: Authorized<ReadAudit>,
    accept: Accept,
    mut filters: Filters,
) -> Result<RecordsAnswer<ManagementLog>, ApiError> {
    if let Some(log) = in_log_order(&app, &context, Log::Management, &accept, &mut filters).await? {
        return Ok(RecordsAnswer::Log(log, context));
    }
    let file = wanted(&accept);
    let page = filters.page();
    let resource_id: Option<ResourceId> = filters.id("resourceId");
    let filter = EventFilter {
        request_id: filters.text("requestId"),
        api_key_id: filters.id("apiKeyId"),
        action: filters.one_of("action"),
        resource_type: filters.one_of("resourceType"),
        resource_id,
        from: filters.time("from"),
        to: filters.time("to"),
    };
    filters.finish()?;
    let read = LogRead {
        log: Log::Management,
        format: file.map(Format::media_type),
        selection: Selection::filter(&filter),
    };
    let recorded = app.security.record_read(&context, read);
    recorded.await.map_err(Unreadable::from)?;
    match file {
        Some(format) => {
            let source = ManagementLog::new(context.pool().clone(), filter);
            Ok(RecordsAnswer::File(Export::new(source, format), context))
        }
        None => {
            let page = events::list(&context, &filter, page).await?;
            Ok(RecordsAnswer::Page(List(page)))
        }
    }
}
