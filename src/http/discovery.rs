//! What anyone finds out by themselves, without an API key: the public keys of services that
//! publish them, and how to speak to this API.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::error::Fault;
use super::openapi;
use crate::ids::ServiceId;
use crate::keys::JwkSet;

const CACHEABLE: (header::HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=60");

/// What a service publishes.
#[derive(Debug)]
pub(super) struct Published(Arc<JwkSet>);

impl IntoResponse for Published {
    fn into_response(self) -> Response {
        ([CACHEABLE], Json(self.0)).into_response()
    }
}

/// Tells the public keys of a service that publishes them.
#[utoipa::path(
    get,
    path = "",
    operation_id = "jwks",
    params(("serviceId" = ServiceId, Path))
)]
pub(super) async fn jwks(
    State(app): State<App>,
    service: Result<Path<String>, PathRejection>,
) -> Result<Published, Fault> {
    // What does not decode is no more found than what is no id.
    let Path(service) = service.map_err(|_| Fault::NotFound)?;
    let service: ServiceId = service.parse().map_err(|_| Fault::NotFound)?;
    let published = app.keyring.published(service).await?;
    let keys = published.ok_or(Fault::NotFound)?;
    Ok(Published(keys))
}

/// Tells what this API is: this document.
#[utoipa::path(
    get,
    path = "",
    operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = serde_json::Value))
)]
pub(super) async fn openapi() -> impl IntoResponse {
    // It is the same for as long as the process runs.
    static DOCUMENT: LazyLock<Bytes> =
        LazyLock::new(|| openapi::document().to_json().unwrap_or_default().into());
    let json = (header::CONTENT_TYPE, "application/json");
    ([CACHEABLE, json], DOCUMENT.clone())
}
