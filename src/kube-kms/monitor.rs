//! `/healthz` and `/metrics`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::meter::CallMeter;
use crate::probe::Probes;

/// The media type of the OpenMetrics text format, which Prometheus requests.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct Monitor {
    probes: Probes,
    registry: Registry,
    healthy: Gauge,
    age: Gauge,
}

pub(crate) fn router(probes: Probes, meter: &CallMeter) -> Router {
    let mut registry = Registry::default();
    meter.register(&mut registry);
    let (healthy, age) = (Gauge::default(), Gauge::default());
    registry.register(
        "sealward_kube_kms_healthy",
        "1 if the last probe encrypted, and otherwise 0",
        healthy.clone(),
    );
    registry.register(
        "sealward_kube_kms_probe_age_seconds",
        "Time since the last probe in seconds, or -1 before the first one",
        age.clone(),
    );
    Router::new()
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
        .with_state(Arc::new(Monitor { probes, registry, healthy, age }))
}

async fn health(State(monitor): State<Arc<Monitor>>) -> Response {
    match monitor.probes.health().await {
        Ok(_) => "ok\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn metrics(State(monitor): State<Arc<Monitor>>) -> Response {
    let (is_healthy, age) = match monitor.probes.last() {
        Some((succeeded, age)) => (succeeded, i64::try_from(age.as_secs()).unwrap_or(i64::MAX)),
        None => (false, -1),
    };
    monitor.healthy.set(i64::from(is_healthy));
    monitor.age.set(age);
    let mut text = String::new();
    match encode(&mut text, &monitor.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, TEXT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "metrics cannot be encoded: this is a bug");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
