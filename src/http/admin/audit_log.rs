//! `/admin/audit/log` and the proofs of records. Reads are not recorded, so that they do not make the
//! logs grow.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::accept::Accept;
use super::extract::PathSegments;
use crate::app::App;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::catalog::Unreadable;
use engine::ids::{EventId, RecordId};
use engine::ledger::{self, Log, Proof, ProofError};
use engine::management::{Authorized, ReadAudit};
use formats::tlog::Tile;

/// A text of a log.
#[derive(Debug)]
pub(crate) struct LogText(pub(crate) String);

/// A tile of a log.
#[derive(Debug)]
pub(crate) struct LogTile(pub(crate) Vec<u8>);

/// A proof, as JSON or as text.
#[derive(Debug)]
pub(crate) enum RecordProof {
    Json(ProofBody),
    Text(String),
}

/// The proof that a record is in its log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditProof)]
pub(crate) struct ProofBody {
    /// The log.
    log: Log,
    /// The position of the record in the log.
    log_index: u64,
    /// The bytes of the record in the log: a JSON object in the form of RFC 8785.
    leaf: String,
    /// The hashes from the sibling of the leaf to the child of the root, in base64.
    inclusion: Vec<String>,
    /// The signed checkpoint (C2SP `tlog-checkpoint`) to whose root they lead.
    checkpoint: String,
}

/// The latest signed checkpoint of a log (C2SP `tlog-checkpoint`).
#[utoipa::path(
    get,
    path = "",
    operation_id = "readAuditCheckpoint",
    params(("log" = Log, Path, example = "management")),
    responses(errors::NotFound)
)]
pub(crate) async fn checkpoint(
    _: Authorized<ReadAudit>,
    State(App(app)): State<App>,
    PathSegments(log): PathSegments<String>,
) -> Result<LogText, ApiError> {
    let note = ledger::checkpoint(&app.engine.database, log_named(&log)?).await;
    let note = note.map_err(Unreadable::from)?;
    note.map(LogText).ok_or(ApiError::NotFound)
}

/// The public keys of a log, one on each line (C2SP `signed-note`). The first one signs.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readAuditLogKey",
    params(("log" = Log, Path, example = "management")),
    responses(errors::NotFound)
)]
pub(crate) async fn key(
    _: Authorized<ReadAudit>,
    State(App(app)): State<App>,
    PathSegments(log): PathSegments<String>,
) -> Result<LogText, ApiError> {
    let keys = ledger::keys(&app.engine.database, log_named(&log)?).await;
    let keys = keys.map_err(Unreadable::from)?.ok_or(ApiError::NotFound)?;
    Ok(LogText(keys.iter().map(|key| format!("{key}\n")).collect()))
}

/// A tile of hashes, or the entries of a tile (C2SP `tlog-tiles`).
///
/// The path is `LEVEL/INDEX` or `entries/INDEX`, with `.p/WIDTH` for a partial tile.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readAuditTile",
    params(("log" = Log, Path, example = "management"), ("path" = String, Path, example = "0/000.p/1")),
    responses(errors::NotFound)
)]
pub(crate) async fn tile(
    _: Authorized<ReadAudit>,
    State(App(app)): State<App>,
    PathSegments((log, path)): PathSegments<(String, String)>,
) -> Result<LogTile, ApiError> {
    let bytes = ledger::tile(&app.engine.database, log_named(&log)?, &tile_at(&path)?).await;
    let bytes = bytes.map_err(Unreadable::from)?;
    bytes.map(LogTile).ok_or(ApiError::NotFound)
}

/// Proves that a record is in its log. With `Accept: text/plain` the answer is a C2SP `tlog-proof`.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readAuditProof",
    params(("id" = String, Path, example = "rec_01h455vb4pex5vsknk084sn02q")),
    responses(errors::NotFound, errors::Conflict)
)]
pub(crate) async fn proof(
    _: Authorized<ReadAudit>,
    State(App(app)): State<App>,
    PathSegments(id): PathSegments<String>,
    accept: Accept,
) -> Result<RecordProof, ApiError> {
    let (log, id) = record(&id).ok_or(ApiError::NotFound)?;
    let proof = ledger::prove(&app.engine.database, log, id).await?;
    let wants_text = accept.first(|media| match media {
        "text/plain" => Some(true),
        "application/json" | "*/*" => Some(false),
        _ => None,
    });
    if wants_text == Some(true) {
        return Ok(RecordProof::Text(proof.to_text()));
    }
    Ok(RecordProof::Json(proof.into()))
}

/// The log in a path.
pub(crate) fn log_named(log: &str) -> Result<Log, ApiError> {
    log.parse().map_err(|_| ApiError::NotFound)
}

/// The tile in a path below `tile/`.
pub(crate) fn tile_at(path: &str) -> Result<Tile, ApiError> {
    format!("tile/{path}").parse().map_err(|_| ApiError::NotFound)
}

/// The log and the identifier of a record.
fn record(id: &str) -> Option<(Log, Uuid)> {
    let operation = id.parse().ok().map(|id: RecordId| (Log::Operations, id.uuid()));
    operation.or_else(|| id.parse().ok().map(|id: EventId| (Log::Management, id.uuid())))
}

impl From<Proof> for ProofBody {
    fn from(proof: Proof) -> Self {
        Self {
            log: proof.log,
            log_index: proof.log_index,
            leaf: proof.leaf,
            inclusion: proof.inclusion.iter().map(ToString::to_string).collect(),
            checkpoint: proof.checkpoint,
        }
    }
}

impl From<ProofError> for ApiError {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Missing => Self::NotFound,
            ProofError::NotSealed | ProofError::Changed => Self::Conflict(error.to_string()),
            ProofError::Database(error) => Unreadable::from(error).into(),
        }
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

impl IntoResponse for LogText {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, TEXT)], self.0).into_response()
    }
}

impl IntoResponse for LogTile {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/octet-stream")], self.0).into_response()
    }
}

impl IntoResponse for RecordProof {
    fn into_response(self) -> Response {
        match self {
            Self::Json(proof) => Json(proof).into_response(),
            Self::Text(proof) => LogText(proof).into_response(),
        }
    }
}
