//! `GET /metrics` on a separate listener, in the format of Prometheus.
//!
//! Each module keeps its own counters. A request to this page collects them.

mod audit;
mod jobs;
mod limits;
mod page;
mod process;
mod service;
mod tokens;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use self::service::ServiceMetrics;
use super::connections::Connections;
use super::tls::Tls;
use engine::meter::TokenTimes;
use sealward_http::AppState;

/// The media type of the OpenMetrics text format, which Prometheus requests.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The only page of the metrics listener.
pub(super) fn router(
    app: Arc<AppState>,
    tls: Option<Tls>,
    connections: Connections,
    token_times: TokenTimes,
) -> Router {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(ServiceMetrics { app, tls, connections, token_times }));
    Router::new()
        .route("/metrics", get(show))
        .fallback(async || (StatusCode::NOT_FOUND, "metrics are at /metrics\n"))
        .with_state(Arc::new(registry))
}

async fn show(State(registry): State<Arc<Registry>>) -> Response {
    let mut text = String::with_capacity(64 * 1024);
    match encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, TEXT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "metrics cannot be encoded: this is a bug");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
