//! Liveness and readiness probes, without an API key.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

use super::app::App;
use super::error::ApiError;
use crate::db;

const OK: ProbeResult = ProbeResult { status: Status::Ok };

/// A database that takes longer counts as unavailable.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The probe succeeded.
#[derive(Debug, Serialize, IntoResponses, ToSchema)]
#[response(status = 200, example = json!({"status": "ok"}))]
pub(super) struct ProbeResult {
    #[schema(inline)]
    status: Status,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
}

impl IntoResponse for ProbeResult {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

/// Reports that the process answers.
#[utoipa::path(get, path = "", operation_id = "live")]
pub(super) async fn live() -> ProbeResult {
    OK
}

/// Reports that the instance accepts traffic: the database answers and no shutdown has begun.
#[utoipa::path(get, path = "", operation_id = "ready")]
pub(super) async fn ready(State(app): State<App>) -> Result<ProbeResult, ApiError> {
    if app.draining.load(Ordering::Relaxed) || !db::answers(&app.database, TIMEOUT).await {
        return Err(ApiError::Unavailable);
    }
    Ok(OK)
}
