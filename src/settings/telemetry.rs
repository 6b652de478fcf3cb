//! Settings of traces.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the service tells others of its work, beside its log and metrics.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Telemetry {
    /// Traces, sent to a collector of OpenTelemetry.
    pub otlp: Otlp,
}

/// Traces by OTLP.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Otlp {
    /// Where the collector takes OTLP over HTTP, as in `http://127.0.0.1:4318`; traces are off where
    /// this is left out.
    pub endpoint: Option<String>,
    /// Certificates of the CAs that vouch for the collector, in PEM. Left out, the system's do.
    pub ca: Option<PathBuf>,
    /// The share of requests that is traced, from 0 to 1, where the client does not say whether its
    /// own is.
    pub ratio: f64,
}

impl Default for Otlp {
    fn default() -> Self {
        Self {
            endpoint: None,
            ca: None,
            ratio: 1.0,
        }
    }
}

impl Telemetry {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        let is_url = |text: &String| text.starts_with("http://") || text.starts_with("https://");
        if self
            .otlp
            .endpoint
            .as_ref()
            .is_some_and(|text| !is_url(text))
        {
            found.push(
                "telemetry.otlp.endpoint must be a URL such as http://127.0.0.1:4318".to_owned(),
            );
        }
        if !(0.0..=1.0).contains(&self.otlp.ratio) {
            found.push("telemetry.otlp.ratio must be from 0 to 1".to_owned());
        }
    }
}
