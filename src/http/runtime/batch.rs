//! `POST /api/v1/protect/batch`, `/unprotect/batch` and `/rewrap/batch`.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};

use super::receive::{body_limit, receive};
use super::respond::respond;
use crate::app::{App, AppState};
use crate::caller::client_address;
use engine::audit::Endpoint;
use engine::protection::{
    Authentication, Batch, BatchLimits, ProtectBatch, ProtectedBatch, RewrapBatch, RewrappedBatch,
    UnprotectBatch, UnprotectedBatch,
};
use engine::settings::Settings;
use engine::web::credentials;

/// Items that began earlier than this before the time limit of the request can end within it.
const MARGIN: Duration = Duration::from_secs(5);

/// Protects up to 1,000 payloads.
#[utoipa::path(
    post,
    path = "",
    operation_id = "protectBatch",
    request_body = ProtectBatch<'static>,
    responses((status = 200, description = "The results.", body = ProtectedBatch<'static>))
)]
pub(crate) async fn protect(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    answer(app, Batch::Protect, request).await
}

/// Opens up to 1,000 envelopes.
#[utoipa::path(
    post,
    path = "",
    operation_id = "unprotectBatch",
    request_body = UnprotectBatch<'static>,
    responses((status = 200, description = "The results.", body = UnprotectedBatch<'static>))
)]
pub(crate) async fn unprotect(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    answer(app, Batch::Unprotect, request).await
}

/// Rewraps up to 1,000 envelopes.
#[utoipa::path(
    post,
    path = "",
    operation_id = "rewrapBatch",
    request_body = RewrapBatch<'static>,
    responses((status = 200, description = "The results.", body = RewrappedBatch<'static>))
)]
pub(crate) async fn rewrap(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    answer(app, Batch::Rewrap, request).await
}

async fn answer(app: Arc<AppState>, batch: Batch, request: Request) -> Response {
    let (endpoint, single) = match batch {
        Batch::Protect => (Endpoint::ProtectBatch, Endpoint::Protect),
        Batch::Unprotect => (Endpoint::UnprotectBatch, Endpoint::Unprotect),
        Batch::Rewrap => (Endpoint::RewrapBatch, Endpoint::Rewrap),
    };
    let again = authentication(&app, &request);
    match receive(&app, endpoint, request).await {
        Ok(received) => {
            let limits = BatchLimits {
                item_bytes: body_limit(single, &app.engine.settings.limits),
                at_once: at_once(batch, &app.engine.settings),
                begin_within: begin_within(app.engine.settings.limits.request_timeout.0),
            };
            let answered = app.protection.batch(batch, received.call, received.body, limits, again);
            respond(answered.await, received.standing, received.share)
        }
        Err(refused) => refused,
    }
}

/// Authenticates the caller of this request again.
fn authentication(app: &Arc<AppState>, request: &Request) -> Authentication {
    let kept = Arc::new(credentials(request.headers(), request.extensions()).keep());
    let (app, client) = (Arc::clone(app), client_address(request));
    Box::new(move || {
        let (app, kept) = (Arc::clone(&app), Arc::clone(&kept));
        Box::pin(async move { app.engine.authenticate(&kept.presented(), client).await })
    })
}

/// Enough items to use all cores, or all sessions of all tokens.
fn at_once(batch: Batch, settings: &Settings) -> usize {
    match batch {
        Batch::Protect => available_parallelism().map_or(1, Into::into),
        Batch::Unprotect | Batch::Rewrap => settings.hsm.workers * settings.hsm.tokens.len() * 2,
    }
}

/// A short time limit is halved, so that some items begin.
fn begin_within(timeout: Duration) -> Duration {
    timeout.saturating_sub(MARGIN.min(timeout / 2))
}
