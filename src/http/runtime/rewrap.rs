//! `POST /api/v1/rewrap`.

use axum::extract::{Request, State};
use axum::response::IntoResponse;

use super::receive::receive;
use super::respond::respond;
use crate::app::App;
use crate::error_code::errors;
use engine::audit::Endpoint;
use engine::protection::{RewrapRequest, RewrappedPayload};

/// Makes a new envelope from an existing one, without returning the payload.
#[utoipa::path(
    post,
    path = "",
    operation_id = "rewrap",
    request_body = RewrapRequest<'static>,
    responses(
        (status = 200, description = "The new envelope.", body = RewrappedPayload<'static>),
        errors::InvalidProtectedPayload,
        errors::PolicyNotFound,
        errors::OperationNotAllowed,
        errors::UnprotectNotAvailable,
        errors::PolicyNotActive,
        errors::DestinationKeyNotFound
    )
)]
pub(crate) async fn rewrap(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    let received = receive(&app, Endpoint::Rewrap, request).await;
    match received {
        Ok(received) => {
            let answered = app.protection.rewrap(received.call, received.body).await;
            respond(answered, received.bucket, received.share)
        }
        Err(refused) => refused,
    }
}
