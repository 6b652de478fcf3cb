//! Discovery without an API key: published public keys and the OpenAPI document.

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use super::app::App;
use super::error::ApiError;
use crate::http::error_code::errors;
use crate::ids::ServiceId;
use crate::keys::JwkSet;
use crate::web::ClientAddress;

const CACHEABLE: (header::HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=60");

/// The public keys that a service publishes.
#[derive(Debug)]
pub(super) struct Published(Arc<JwkSet>);

impl IntoResponse for Published {
    fn into_response(self) -> Response {
        ([CACHEABLE], Json(self.0)).into_response()
    }
}

/// Returns the public keys of a service that publishes them.
#[utoipa::path(
    get,
    path = "",
    operation_id = "jwks",
    params(("serviceId" = ServiceId, Path)),
    responses(errors::NotFound)
)]
pub(super) async fn jwks(
    State(app): State<App>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    service: Result<Path<String>, PathRejection>,
) -> Result<Published, ApiError> {
    // A segment that cannot be decoded is answered like an unknown id.
    let Path(service) = service.map_err(|_| ApiError::NotFound)?;
    let service: ServiceId = service.parse().map_err(|_| ApiError::NotFound)?;
    let mut look_up = app.limiter.look_up(client);
    let admission = async { look_up.turn().await.map_err(ApiError::from) };
    let published = app.keyring.published(service, admission).await?;
    let keys = published.ok_or(ApiError::NotFound)?;
    look_up.found();
    Ok(Published(keys))
}

/// Returns this document.
#[utoipa::path(
    get,
    path = "",
    operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = serde_json::Value))
)]
pub(super) async fn openapi(State(app): State<App>) -> impl IntoResponse {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| (app.document)().to_json().unwrap_or_default().into());
    let json = (header::CONTENT_TYPE, "application/json");
    ([CACHEABLE, json], document.clone())
}
