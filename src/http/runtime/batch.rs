//! `POST /api/v1/protect/batch`, `/unprotect/batch` and `/rewrap/batch`.

use std::sync::Arc;
use std::thread::available_parallelism;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};

use super::receive::{body_limit, receive};
use super::respond::respond;
use crate::app::{App, AppState};
use engine::audit::Endpoint;
use engine::protection::{
    Batch, BatchLimits, ProtectBatch, ProtectedBatch, RewrapBatch, RewrappedBatch, UnprotectBatch,
    UnprotectedBatch,
};
use engine::receive::{Received, begin_within, token_operations};
use engine::settings::Settings;

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
    let received = receive(&app, endpoint, request).await;
    match received {
        Ok(received) => {
            let settings = &app.engine.settings;
            let limits = BatchLimits {
                item_bytes: body_limit(single, &settings.limits),
                at_once: at_once(batch, settings),
                begin_within: begin_within(settings),
            };
            let Received { call, again, body, bucket, share, .. } = received;
            let answered = app.protection.batch(batch, call, body, limits, again).await;
            respond(answered, bucket, share)
        }
        Err(refused) => refused,
    }
}

/// Enough items to use all cores, or all sessions of all tokens.
fn at_once(batch: Batch, settings: &Settings) -> usize {
    match batch {
        Batch::Protect => available_parallelism().map_or(1, Into::into),
        Batch::Unprotect | Batch::Rewrap => token_operations(settings),
    }
}
