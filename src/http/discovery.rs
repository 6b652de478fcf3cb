//! Discovery without an API key: published public keys and the OpenAPI document.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest as _, Sha256};

use super::admin::PathSegments;
use super::app::App;
use super::error::ApiError;
use crate::error_code::errors;
use engine::ids::ServiceId;
use engine::keys::JwkSet;
use engine::web::ClientAddress;
use formats::binary::to_base64url;

const CACHEABLE: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=60");

/// The key set, or its ETag alone if the client has it.
#[derive(Debug)]
pub(super) struct Published {
    keys: Arc<JwkSet>,
    known: KnownTags,
}

/// The ETags of `If-None-Match`.
#[derive(Debug)]
pub(super) struct KnownTags(Vec<String>);

impl FromRequestParts<App> for KnownTags {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let lines = parts.headers.get_all(header::IF_NONE_MATCH).iter();
        let tags = lines.flat_map(|line| line.to_str().unwrap_or_default().split(','));
        Ok(Self(tags.map(|tag| tag.trim().to_owned()).collect()))
    }
}

impl KnownTags {
    /// Whether a tag matches, by the weak comparison of RFC 9110.
    fn include(&self, etag: &str) -> bool {
        let mut tags = self.0.iter();
        tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    }
}

impl IntoResponse for Published {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.keys).unwrap_or_default();
        let etag = format!("\"{}\"", to_base64url(&Sha256::digest(&body)));
        let is_known = self.known.include(&etag);
        let headers = ([CACHEABLE], [(header::ETAG, etag)]);
        if is_known {
            return (StatusCode::NOT_MODIFIED, headers.0, headers.1).into_response();
        }
        let json = [(header::CONTENT_TYPE, "application/json")];
        (headers.0, headers.1, json, body).into_response()
    }
}

/// Returns the public keys of a service that publishes them.
#[utoipa::path(
    get,
    path = "",
    operation_id = "jwks",
    params(("serviceId" = ServiceId, Path)),
    responses(errors::NotFound, errors::RateLimitExceeded)
)]
pub(super) async fn jwks(
    State(App(app)): State<App>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    PathSegments(service): PathSegments<String>,
    known: KnownTags,
) -> Result<Published, ApiError> {
    let service: ServiceId = service.parse().map_err(|_| ApiError::NotFound)?;
    let mut look_up = app.engine.limiter.look_up(client);
    let admission = async { look_up.turn().await.map_err(ApiError::from) };
    let published = app.keyring.published(service, admission).await?;
    let keys = published.ok_or(ApiError::NotFound)?;
    look_up.found();
    Ok(Published { keys, known })
}

/// Returns this document.
#[utoipa::path(
    get,
    path = "",
    operation_id = "openapi",
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = serde_json::Value))
)]
pub(super) async fn openapi(State(App(app)): State<App>) -> impl IntoResponse {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| (app.document)().to_json().unwrap_or_default().into());
    let json = (header::CONTENT_TYPE, "application/json");
    ([CACHEABLE, json], document.clone())
}
