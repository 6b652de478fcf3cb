//! `POST /api/v1/unprotect`.

use axum::extract::{Request, State};
use axum::response::IntoResponse;

use super::receive::receive;
use super::respond::respond;
use crate::app::App;
use crate::error_code::errors;
use engine::audit::Endpoint;
use engine::protection::{UnprotectRequest, Unprotected};

/// Opens an envelope under a policy.
#[utoipa::path(
    post,
    path = "",
    operation_id = "unprotect",
    request_body = UnprotectRequest<'static>,
    responses(
        (status = 200, description = "The payload.", body = Unprotected<'static>),
        errors::InvalidProtectedPayload,
        errors::PolicyNotFound,
        errors::OperationNotAllowed,
        errors::UnprotectNotAvailable,
        errors::DestinationKeyNotFound
    )
)]
pub(crate) async fn unprotect(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    let received = receive(&app, Endpoint::Unprotect, request).await;
    match received {
        Ok(received) => {
            let answered = app.protection.unprotect(received.call, received.body).await;
            respond(answered, received.bucket, received.share)
        }
        Err(refused) => refused,
    }
}
