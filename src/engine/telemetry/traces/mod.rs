//! Traces by OTLP: each step of a request is a span in the trace of the client.
//!
//! Steps are spans of `tracing`. A layer places them in a trace and passes finished spans to the batch
//! processor of OpenTelemetry, which drops spans that it cannot send. Requests never wait for it. The
//! exporter also reads the `OTEL_*` variables; settings take precedence.

mod client;
mod context;
mod layer;
mod span;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor as _};

use self::client::Client;
pub use self::context::trace_id;
pub(super) use self::layer::Steps;
use crate::settings::{NotInPem, Otlp, certificates};
use formats::clock::{Clock, Entropy};

/// Why traces cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum BadExporter {
    /// The setting `telemetry.otlp.ca` names no certificates.
    #[error("telemetry.otlp.ca: {path} {source}", path = .path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// Why.
        source: NotInPem,
    },
    /// The endpoint or an `OTEL_*` variable is invalid.
    #[error("telemetry.otlp: {0}")]
    Settings(#[from] ExporterBuildError),
}

/// The handle of the exporter.
#[derive(Debug)]
pub struct Traces(Arc<BatchSpanProcessor>);

/// The layer that sees steps, and the handle of the exporter.
pub(super) fn open(
    clock: Clock,
    entropy: Entropy,
    settings: &Otlp,
) -> Result<(Steps, Traces), BadExporter> {
    let authorities = settings.ca.as_ref().map(|path| {
        certificates(path).map_err(|source| BadExporter::Ca {
            path: path.clone(),
            source,
        })
    });
    let client = Client::new(authorities.transpose()?.as_deref());
    let mut exporter = SpanExporter::builder().with_http().with_http_client(client);
    if let Some(endpoint) = &settings.endpoint {
        let endpoint = endpoint.trim_end_matches('/');
        exporter = exporter.with_endpoint(format!("{endpoint}/v1/traces"));
    }
    let mut processor = BatchSpanProcessor::builder(exporter.build()?).build();
    processor.set_resource(&resource(entropy));
    let processor = Arc::new(processor);
    let steps = Steps::new(clock, entropy, settings.ratio, Arc::clone(&processor));
    Ok((steps, Traces(processor)))
}

/// The attributes of this instance; `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` add to them.
fn resource(entropy: Entropy) -> Resource {
    let instance = u64::from_be_bytes(entropy.bytes());
    let own = Resource::builder_empty().with_attributes([
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", format!("{instance:016x}")),
    ]);
    let detected = Resource::builder().build();
    let named = detected.iter().filter(|(key, value)| {
        key.as_str() != "service.name" || !value.as_str().starts_with("unknown_service")
    });
    let named: Vec<_> = named
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    own.with_service_name("sealward")
        .with_attributes(named)
        .build()
}

impl Traces {
    /// Sends the remaining spans, within `limit`.
    pub async fn finish(self, limit: Duration) {
        let shutdown = move || self.0.shutdown_with_timeout(limit);
        if !matches!(tokio::task::spawn_blocking(shutdown).await, Ok(Ok(()))) {
            tracing::warn!("the last traces could not be sent before shutdown");
        }
    }
}
