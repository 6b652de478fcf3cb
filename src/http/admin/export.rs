//! A list that can also be downloaded as a file.

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::answer::List;
use crate::audit::{Export, Format, Source};

/// A page of records, or all of them as a file.
#[derive(Debug)]
pub(in crate::http) enum Records<S: Source> {
    Page(List<S::Record>),
    File(Export<S>),
}

impl<S: Source> IntoResponse for Records<S> {
    fn into_response(self) -> Response {
        match self {
            Self::Page(page) => page.into_response(),
            Self::File(export) => {
                let headers = [
                    (header::CONTENT_TYPE, export.media_type().to_owned()),
                    (header::CONTENT_DISPOSITION, export.disposition()),
                ];
                (headers, Body::from_stream(export.pieces())).into_response()
            }
        }
    }
}

/// The file format that `Accept` names first.
pub(super) fn wanted(headers: &HeaderMap) -> Option<Format> {
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
