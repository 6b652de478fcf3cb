//! `POST /api/v1/protect`.

use axum::extract::{Request, State};
use axum::response::IntoResponse;

use super::receive::receive;
use super::respond::respond;
use crate::app::App;
use crate::error_code::errors;
use engine::audit::Endpoint;
use engine::protection::{ProtectRequest, ProtectedPayload};

/// Protects a payload under a policy.
#[utoipa::path(
    post,
    path = "",
    operation_id = "protect",
    request_body = ProtectRequest<'static>,
    responses(
        (status = 200, description = "The protected payload.", body = ProtectedPayload<'static>),
        errors::PolicyNotFound,
        errors::OperationNotAllowed,
        errors::PolicyNotActive,
        errors::DestinationKeyNotFound
    )
)]
pub(crate) async fn protect(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    let received = receive(&app, Endpoint::Protect, request).await;
    match received {
        Ok(received) => {
            let answered = app.protection.protect(received.call, received.body).await;
            respond(answered, received.bucket, received.share)
        }
        Err(refused) => refused,
    }
}
