//! Settings of traces.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Telemetry in addition to the log and the metrics.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Telemetry {
    /// Traces for an OpenTelemetry collector.
    pub otlp: Otlp,
}

/// Traces by OTLP over HTTP with protobuf. The standard variables `OTEL_EXPORTER_OTLP_*` (for example
/// headers for authentication), `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_BSP_*` apply
/// too; these settings take precedence.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Otlp {
    /// The base URL of the collector, for example `http://127.0.0.1:4318`. If neither this nor
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` is set, traces are off.
    pub endpoint: Option<String>,
    /// PEM file with the CA certificates of the collector. Default: the CAs of the system.
    pub ca: Option<PathBuf>,
    /// The share of requests to trace, from 0 to 1. For requests with a `traceparent` of a trusted
    /// proxy, the proxy decides.
    pub ratio: f64,
    /// Whether an `OTEL_*` variable names the collector.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) endpoint_in_environment: bool,
}

impl Default for Otlp {
    fn default() -> Self {
        Self { endpoint: None, ca: None, ratio: 1.0, endpoint_in_environment: false }
    }
}

impl Otlp {
    /// Whether traces are exported.
    pub(crate) fn is_enabled(&self) -> bool {
        self.endpoint.is_some() || self.endpoint_in_environment
    }
}

impl Telemetry {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        let endpoint = self.otlp.endpoint.as_deref();
        if endpoint.is_some_and(|text| !is_url(text)) {
            found.push(
                "telemetry.otlp.endpoint must be a URL such as http://127.0.0.1:4318".to_owned(),
            );
        }
        if !(0.0..=1.0).contains(&self.otlp.ratio) {
            found.push("telemetry.otlp.ratio must be from 0 to 1".to_owned());
        }
    }
}
