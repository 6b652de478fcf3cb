//! A list that can also be downloaded as a file.

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::accept::Accept;
use super::answer::List;
use super::filters::Filters;
use crate::app::AppState;
use crate::error::ApiError;
use engine::audit::{Export, Exported as _, Format, RecordSource};
use engine::catalog::Unreadable;
use engine::ledger::{self, Log};
use engine::management::security::{LogRead, Selection};
use engine::management::{Authorized, ReadAudit};
use formats::closed_set;
use formats::problem::{Code, Problem};

closed_set! {
    /// The sort order of an export.
    pub(in crate) enum Order: "ExportOrder" {
        /// The order of the tamper-evident log, oldest first. It takes no other parameters, and the
        /// format is `application/x-ndjson`. Records that are retired are lines with their leaf hash.
        LogIndex = "log_index",
    }
}

/// A page of records, or all of them as a file.
#[derive(Debug)]
pub(crate) enum RecordsAnswer<S: RecordSource> {
    Page(List<S::Record>),
    File(Export<S>, Authorized<ReadAudit>),
    Log(ledger::Export, Authorized<ReadAudit>),
}

impl<S: RecordSource> IntoResponse for RecordsAnswer<S> {
    fn into_response(self) -> Response {
        match self {
            Self::Page(page) => page.into_response(),
            Self::File(export, reader) => {
                let (media, disposition) = (export.media_type(), export.disposition());
                let body = Body::from_stream(reader.download(export.pieces()));
                download(media, disposition, body)
            }
            Self::Log(export, reader) => {
                let disposition = format!("attachment; filename=\"{}.ndjson\"", S::Record::FILE);
                let media = Format::Ndjson.media_type();
                let body = Body::from_stream(reader.download(export.pieces()));
                download(media, disposition, body)
            }
        }
    }
}

fn download(media: &'static str, disposition: String, body: Body) -> Response {
    let headers =
        [(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    (headers, body).into_response()
}

/// The export in the order of the log, if the query asks for it. The export is recorded.
pub(super) async fn in_log_order(
    app: &AppState,
    context: &Authorized<ReadAudit>,
    log: Log,
    accept: &Accept,
    filters: &mut Filters,
) -> Result<Option<ledger::Export>, ApiError> {
    let Some(Order::LogIndex) = filters.one_of("order") else {
        return Ok(None);
    };
    if wanted(accept) != Some(Format::Ndjson) {
        let message = "must be used with Accept: application/x-ndjson";
        filters.refuse(Problem::new("order", Code::Unsupported, message));
    }
    std::mem::take(filters).finish()?;
    let read = LogRead {
        log,
        format: Some(Format::Ndjson.media_type()),
        selection: Selection::filter(&json!({ "order": Order::LogIndex })),
    };
    let recorded = app.security.record_read(context, read);
    recorded.await.map_err(Unreadable::from)?;
    Ok(Some(ledger::Export::new(app.engine.database.clone(), log)))
}

/// The file format that `Accept` names first.
pub(super) fn wanted(accept: &Accept) -> Option<Format> {
    accept
        .first(|media| match media {
            "text/csv" => Some(Some(Format::Csv)),
            "application/x-ndjson" => Some(Some(Format::Ndjson)),
            "application/json" | "*/*" => Some(None),
            _ => None,
        })
        .flatten()
}
