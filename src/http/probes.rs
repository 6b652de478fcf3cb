//! What load balancers and supervisors ask, without a key: is it alive, may it have traffic.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

use super::app::App;
use super::error::Fault;
use crate::db;

const WELL: Well = Well { status: Status::Ok };

/// Longer than this a database that is there does not take.
const PATIENCE: Duration = Duration::from_secs(1);

/// All is well.
#[derive(Debug, Serialize, IntoResponses, ToSchema)]
#[response(status = 200, example = json!({"status": "ok"}))]
pub(super) struct Well {
    #[schema(inline)]
    status: Status,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
}

impl IntoResponse for Well {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

/// Tells that the process answers.
#[utoipa::path(get, path = "", operation_id = "live")]
pub(super) async fn live() -> Well {
    WELL
}

/// Tells that the instance can protect, which needs the database and no token, and is not ending.
#[utoipa::path(get, path = "", operation_id = "ready")]
pub(super) async fn ready(State(app): State<App>) -> Result<Well, Fault> {
    if app.draining.load(Ordering::Relaxed) || !db::answers(&app.database, PATIENCE).await {
        return Err(Fault::Unavailable);
    }
    Ok(WELL)
}
