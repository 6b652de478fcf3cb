//! `/admin/audit`.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::answer::Listed;
use super::filters::Filters;
use crate::audit::{Entry, Export, Filter, Format, entries};
use crate::catalog::Unreadable;
use crate::http::app::App;
use crate::http::error::ApiError;
use crate::ids::RecordId;
use crate::management::{Page, PageRequest};

const TIME: &str = "this must be a time as 2030-01-31T12:00:00.000Z";

/// What is answered of the trail.
#[derive(Debug)]
pub(in crate::http) enum Trail {
    Page(Listed<Entry>),
    File(Export, Format),
}

/// Lists the trail, newest first; or streams all of the selection, where the caller asks for a file.
///
/// With `Accept: text/csv` or `application/x-ndjson` all of it comes, whatever its length. `limit`
/// and `cursor` have no effect then.
#[utoipa::path(
    get,
    path = "",
    operation_id = "listAudit",
    params(PageRequest, Filter)
)]
pub(in crate::http) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    mut filters: Filters,
) -> Result<Trail, ApiError> {
    let file = wanted(&headers);
    let page = filters.page();
    let filter = Filter {
        request_id: filters.text("requestId"),
        application_id: filters.parsed("applicationId", "this must be the id of a service"),
        operation_type: filters.one_of("operationType", "encrypt, decrypt, sign, verify, hash"),
        status: filters.number("status", 100..=599),
        policy_number: filters.text("policyNumber"),
        key_id: filters.parsed("keyId", "this must be the id of a key"),
        from: filters.parsed("from", TIME),
        to: filters.parsed("to", TIME),
    };
    filters.finish()?;
    let (database, now) = (app.database.clone(), app.clock.now());
    match file {
        Some(format) => Ok(Trail::File(
            Export::new(database, now, filter, format),
            format,
        )),
        None => {
            let older_than = page.after().map(RecordId::from_uuid);
            let rows = entries(&database, now, &filter, older_than, page.rows()).await;
            let rows = rows.map_err(Unreadable::from)?;
            let page = Page::of(page, rows, |entry: &Entry| entry.id.uuid());
            Ok(Trail::Page(Listed(page)))
        }
    }
}

impl IntoResponse for Trail {
    fn into_response(self) -> Response {
        match self {
            Self::Page(page) => page.into_response(),
            Self::File(export, format) => download(export, format),
        }
    }
}

/// The file that `Accept` names first, if it names one.
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
