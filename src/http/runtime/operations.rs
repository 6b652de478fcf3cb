//! `POST /api/v1/operations`.

use axum::extract::{Request, State};
use axum::response::IntoResponse;

use super::receive::receive;
use super::respond::respond;
use crate::app::App;
use crate::error_code::errors;
use engine::audit::Endpoint;
use engine::protection::{OperationAnswer, OperationRequest};

/// Encrypts, decrypts, signs, verifies or hashes with an algorithm of the caller's choice.
#[utoipa::path(
    post,
    path = "",
    operation_id = "operate",
    request_body = OperationRequest<'static>,
    responses(
        (status = 200, description = "The result of the operation.", body = OperationAnswer<'static>),
        errors::OperationNotAllowed,
        errors::KeyNotFound,
        errors::DecryptionFailed
    )
)]
pub(crate) async fn operate(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    let received = receive(&app, Endpoint::Operations, request).await;
    match received {
        Ok(received) => {
            let limit = app.engine.settings.limits.max_body_bytes;
            let answered = app.protection.operate(received.call, received.body, limit).await;
            respond(answered, received.bucket, received.share)
        }
        Err(refused) => refused,
    }
}
