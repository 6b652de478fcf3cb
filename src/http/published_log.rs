//! `/audit/log`: the published checkpoints and hashes of the audit logs, without an API key.
//!
//! A published tree has the size of the published checkpoint. Records are not published.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::admin::{LogText, LogTile, PathSegments, log_named, tile_at};
use super::app::{App, AppState};
use super::error::ApiError;
use crate::error_code::errors;
use engine::ledger::{Log, PublishedLogs};
use engine::web::ClientAddress;

/// A published checkpoint, which the next one replaces.
#[derive(Debug)]
pub(super) struct PublishedCheckpoint(LogText);

/// A published tile, which never changes.
#[derive(Debug)]
pub(super) struct PublishedTile(LogTile);

/// The latest published checkpoint of a log (C2SP `tlog-checkpoint`).
#[utoipa::path(
    get,
    path = "",
    operation_id = "readPublishedCheckpoint",
    params(("log" = Log, Path, example = "management")),
    responses(errors::NotFound, errors::RateLimitExceeded)
)]
pub(super) async fn checkpoint(
    State(App(app)): State<App>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    PathSegments(log): PathSegments<String>,
) -> Result<PublishedCheckpoint, ApiError> {
    let log = log_named(&log)?;
    let logs = published(&app)?;
    let mut look_up = app.engine.limiter.look_up(client);
    let admission = async { look_up.turn().await.map_err(ApiError::from) };
    let note = logs.checkpoint(log, admission).await?;
    note.map(|note| PublishedCheckpoint(LogText(note))).ok_or(ApiError::NotFound)
}

/// A tile of the hashes of a published tree (C2SP `tlog-tiles`).
///
/// The path is `LEVEL/INDEX`, with `.p/WIDTH` for a partial tile.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readPublishedTile",
    params(("log" = Log, Path, example = "management"), ("path" = String, Path, example = "0/000.p/1")),
    responses(errors::NotFound, errors::RateLimitExceeded)
)]
pub(super) async fn tile(
    State(App(app)): State<App>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    PathSegments((log, path)): PathSegments<(String, String)>,
) -> Result<PublishedTile, ApiError> {
    let (log, tile) = (log_named(&log)?, tile_at(&path)?);
    let logs = published(&app)?;
    let mut look_up = app.engine.limiter.look_up(client);
    let admission = async { look_up.turn().await.map_err(ApiError::from) };
    let bytes = logs.tile(log, tile, admission).await?;
    bytes.map(|bytes| PublishedTile(LogTile(bytes))).ok_or(ApiError::NotFound)
}

/// The logs, if they are published.
fn published(app: &AppState) -> Result<&PublishedLogs, ApiError> {
    let is_published = app.engine.settings.audit.seal.publish;
    is_published.then_some(&app.published_logs).ok_or(ApiError::NotFound)
}

impl IntoResponse for PublishedCheckpoint {
    fn into_response(self) -> Response {
        let brief = [(header::CACHE_CONTROL, "public, max-age=5")];
        (brief, self.0).into_response()
    }
}

impl IntoResponse for PublishedTile {
    fn into_response(self) -> Response {
        let forever = [(header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
        (forever, self.0).into_response()
    }
}
