//! Liveness and readiness probes, without an API key.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::app::{App, AppState};
use super::error::ApiError;
use super::routes::{Access, Routes};

const OK: ProbeResult = ProbeResult { status: ProbeStatus::Ok };

/// The routes of the listener for probes alone.
pub fn router(app: Arc<AppState>) -> Router {
    let routes =
        Routes::of(Access::Anyone).at("/livez", routes!(live)).at("/readyz", routes!(ready));
    routes.router.with_state(App(app))
}

/// The probe succeeded.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ProbeResult {
    #[schema(inline)]
    status: ProbeStatus,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ProbeStatus {
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

/// Reports that the instance accepts traffic: the database answers, its rows can be verified, the background
/// jobs that requests need run, and no shutdown has begun.
#[utoipa::path(get, path = "", operation_id = "ready")]
pub(super) async fn ready(State(App(app)): State<App>) -> Result<ProbeResult, ApiError> {
    if app.is_ready() { Ok(OK) } else { Err(ApiError::Unavailable) }
}
