//! `/admin/audit`.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::try_unfold;

use super::answer::Listed;
use super::filters::Filters;
use crate::audit::{Entry, Export, Filter, Format, entries};
use crate::catalog::Unreadable;
use crate::http::app::App;
use crate::http::error::Fault;
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
/// With `Accept: text/csv` or `application/x-ndjson` all of it comes, whatever its length, and
/// `limit` and `cursor` are not taken.
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
) -> Result<Trail, Fault> {
    let file = wanted(&headers);
    let page = file.is_none().then(|| filters.page());
    let filter = Filter {
        request_id: filters.text("requestId"),
        application_id: filters.parsed("applicationId", "this must be the id of a service"),
        operation_type: filters.parsed(
            "operationType",
            "this must be one of encrypt, decrypt, sign, verify, hash",
        ),
        status: filters.number("status", 100..=599),
        policy_number: filters.text("policyNumber"),
        key_id: filters.parsed("keyId", "this must be the id of a key"),
        from: filters.parsed("from", TIME),
        to: filters.parsed("to", TIME),
    };
    filters.finish()?;
    let database = app.database.clone();
    match (file, page) {
        (Some(format), _) => Ok(Trail::File(Export::new(database, filter, format), format)),
        (None, page) => {
            let page = page.unwrap_or_default();
            let older_than = page.after().map(RecordId::from_uuid);
            let rows = entries(&database, &filter, older_than, page.rows()).await;
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

const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

/// The file that `Accept` names first, if it names one.
fn wanted(headers: &HeaderMap) -> Option<Format> {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|media| media.split(';').next().unwrap_or_default().trim())
        .find_map(|media| match media.to_ascii_lowercase().as_str() {
            CSV => Some(Some(Format::Csv)),
            NDJSON => Some(Some(Format::Ndjson)),
            "application/json" | "*/*" => Some(None),
            _ => None,
        })
        .flatten()
}

/// Streams an export. Should it break off, so does the response, which then cannot be mistaken for
/// a complete one.
fn download(export: Export, format: Format) -> Response {
    let chunks = try_unfold(export, async |mut export| {
        let chunk = export.next().await.inspect_err(|error| {
            tracing::error!(%error, "an export of the trail broke off");
        })?;
        Ok::<_, sqlx::Error>(chunk.map(|chunk| (Bytes::from(chunk), export)))
    });
    let (media, name) = match format {
        Format::Csv => (
            "text/csv; charset=utf-8",
            "attachment; filename=\"audit.csv\"",
        ),
        Format::Ndjson => (NDJSON, "attachment; filename=\"audit.ndjson\""),
    };
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(name)),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}
