//! `/admin/audit`.

use axum::extract::State;

use super::accept::Accept;
use super::answer::List;
use super::export::{Order, RecordsAnswer, in_log_order, wanted};
use super::filters::Filters;
use crate::app::App;
use crate::error::ApiError;
use engine::audit::{Entry, EntryFilter, Export, Format, Operations, entries};
use engine::catalog::Unreadable;
use engine::ids::RecordId;
use engine::ledger::Log;
use engine::management::security::{LogRead, Selection};
use engine::management::{Authorized, Page, PageRequest, ReadAudit};

/// Lists audit records, newest first, or exports all that match.
///
/// With `Accept: text/csv` or `application/x-ndjson`, the response contains all matching records and
/// ignores `limit` and `cursor`.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listAudit",
    params(PageRequest, EntryFilter, ("order" = Option<Order>, Query))
)]
pub(crate) async fn list(
    State(App(app)): State<App>,
    context: Authorized<ReadAudit>,
    accept: Accept,
    mut filters: Filters,
) -> Result<RecordsAnswer<Operations>, ApiError> {
    if let Some(log) = in_log_order(&app, &context, Log::Operations, &accept, &mut filters).await? {
        return Ok(RecordsAnswer::Log(log, context));
    }
    let file = wanted(&accept);
    let page = filters.page();
    let filter = EntryFilter {
        request_id: filters.text("requestId"),
        service_id: filters.id("applicationId"),
        operation_type: filters.one_of("operationType"),
        status: filters.number("status", 100..=599),
        outcome: filters.one_of("outcome"),
        policy_number: filters.text("policyNumber"),
        key_id: filters.id("keyId"),
        identity_id: filters.id("identityId"),
        token_subject: filters.text("tokenSubject"),
        from: filters.time("from"),
        to: filters.time("to"),
    };
    filters.finish()?;
    let read = LogRead {
        log: Log::Operations,
        format: file.map(Format::media_type),
        selection: Selection::filter(&filter),
    };
    let recorded = app.security.record_read(&context, read);
    recorded.await.map_err(Unreadable::from)?;
    let (database, now) = (app.engine.database.clone(), app.engine.clock.now());
    match file {
        Some(format) => {
            let source = Operations::new(database, now, filter);
            Ok(RecordsAnswer::File(Export::new(source, format), context))
        }
        None => {
            let older_than = page.after().map(RecordId::from_uuid);
            let rows = entries(&database, now, &filter, older_than, page.rows()).await;
            let rows = rows.map_err(Unreadable::from)?;
            let page = Page::of(page, rows, |entry: &Entry| entry.id.uuid());
            Ok(RecordsAnswer::Page(List(page)))
        }
    }
}
