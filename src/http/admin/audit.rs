//! `/admin/audit`.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::answer::List;
use super::extract::Authorized;
use super::filters::Filters;
use crate::audit::{Entry, Export, Filter, Format, entries};
use crate::catalog::Unreadable;
use crate::http::app::App;
use crate::http::error::ApiError;
use crate::ids::RecordId;
use crate::management::security::Log;
use crate::management::{Page, PageRequest};

/// A page of audit records, or all of them as a file.
#[derive(Debug)]
pub(in crate::http) enum AuditEntries {
    Page(List<Entry>),
    File(Export, Format),
}

/// Lists audit records, newest first, or exports all that match.
///
/// With `Accept: text/csv` or `application/x-ndjson` the answer has all matching records. `limit` and
/// `cursor` have no effect then.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listAudit",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    State(app): State<App>,
    Authorized(context): Authorized,
    headers: HeaderMap,
    mut filters: Filters,
) -> Result<AuditEntries, ApiError> {
    let file = wanted(&headers);
    let page = filters.page();
    let filter = Filter {
        request_id: filters.text("requestId"),
        application_id: filters.id("applicationId"),
        operation_type: filters.one_of("operationType"),
        status: filters.number("status", 100..=599),
        outcome: filters.one_of("outcome"),
        policy_number: filters.text("policyNumber"),
        key_id: filters.id("keyId"),
        from: filters.time("from"),
        to: filters.time("to"),
    };
    let query = filters.finish()?;
    let format = file.map(Format::media_type);
    let recorded = app
        .security
        .record_read(&context.actor, Log::Operations, format, &query);
    recorded.await.map_err(Unreadable::from)?;
    let (database, now) = (app.database.clone(), app.clock.now());
    match file {
        Some(format) => Ok(AuditEntries::File(
            Export::new(database, now, filter, format),
            format,
        )),
        None => {
            let older_than = page.after().map(RecordId::from_uuid);
            let rows = entries(&database, now, &filter, older_than, page.rows()).await;
            let rows = rows.map_err(Unreadable::from)?;
            let page = Page::of(page, rows, |entry: &Entry| entry.id.uuid());
            Ok(AuditEntries::Page(List(page)))
        }
    }
}

impl IntoResponse for AuditEntries {
    fn into_response(self) -> Response {
        match self {
            Self::Page(page) => page.into_response(),
            Self::File(export, format) => download(export, format),
        }
    }
}

/// The file format that `Accept` names first.
fn wanted(headers: &HeaderMap) -> Option<Format> {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|media| media.split(';').next().unwrap_or_default().trim())
        .find_map(|media| match media.to_ascii_lowercase().as_str() {
            "text/csv" => Some(Some(Format::Csv)),
            "application/x-ndjson" => Some(Some(Format::Ndjson)),
            "application/json" | "*/*" => Some(None),
            _ => None,
        })
        .flatten()
}

/// Streams an export.
fn download(export: Export, format: Format) -> Response {
    let headers = [
        (header::CONTENT_TYPE, format.media_type()),
        (header::CONTENT_DISPOSITION, format.disposition()),
    ];
    (headers, Body::from_stream(export.pieces())).into_response()
}
