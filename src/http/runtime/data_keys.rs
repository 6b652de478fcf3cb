//! `POST /api/v1/data-keys`.

use axum::extract::{Request, State};
use axum::response::IntoResponse;

use super::receive::receive;
use super::respond::respond;
use crate::app::App;
use crate::error_code::errors;
use engine::audit::Endpoint;
use engine::protection::{DataKey, DataKeyRequest};

/// Makes a data key and an envelope that contains it.
#[utoipa::path(
    post,
    path = "",
    operation_id = "makeDataKey",
    request_body = DataKeyRequest<'static>,
    responses(
        (status = 200, description = "The data key.", body = DataKey<'static>),
        errors::PolicyNotFound,
        errors::OperationNotAllowed,
        errors::PolicyNotActive,
        errors::DestinationKeyNotFound
    )
)]
pub(crate) async fn make(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    let received = receive(&app, Endpoint::DataKeys, request).await;
    match received {
        Ok(received) => {
            let made = app.protection.make_data_key(received.call, received.body);
            respond(made.await, received.bucket, received.share)
        }
        Err(refused) => refused,
    }
}
