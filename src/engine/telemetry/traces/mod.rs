//! Traces by OTLP: each step of a request is a span in the trace of the client.
//!
//! Steps are spans of `tracing`. The layer of `tracing-opentelemetry` passes them to the batch processor
//! of OpenTelemetry, which drops spans that it cannot send. Requests never wait for it. The exporter
//! also reads the `OTEL_*` variables; settings take precedence.

mod client;
mod context;

use std::path::PathBuf;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use self::client::Client;
use self::context::RequestSampler;
pub(crate) use self::context::join_trace;
use crate::settings::{NotInPem, Otlp, certificates};
use formats::clock::Entropy;

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
pub struct Traces(SdkTracerProvider);

/// Starts the exporter.
pub(super) fn open(entropy: Entropy, settings: &Otlp) -> Result<Traces, BadExporter> {
    let authorities = settings.ca.as_ref().map(|path| {
        certificates(path).map_err(|source| BadExporter::Ca { path: path.clone(), source })
    });
    let client = Client::new(authorities.transpose()?.as_deref());
    let mut exporter = SpanExporter::builder().with_http().with_http_client(client);
    if let Some(endpoint) = &settings.endpoint {
        let endpoint = endpoint.trim_end_matches('/');
        exporter = exporter.with_endpoint(format!("{endpoint}/v1/traces"));
    }
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter.build()?)
        .with_resource(resource(entropy))
        .with_sampler(RequestSampler { ratio: settings.ratio });
    Ok(Traces(provider.build()))
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
    let named: Vec<_> =
        named.map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    own.with_service_name("sealward").with_attributes(named).build()
}

impl Traces {
    /// The layer that passes steps to the exporter. Spans have no attributes but the fields of steps.
    pub(super) fn layer<S>(&self) -> impl Layer<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let scope =
            InstrumentationScope::builder("sealward").with_version(env!("CARGO_PKG_VERSION"));
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer_with_scope(scope.build()))
            .with_context_activation(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
    }

    /// Sends the remaining spans, within `limit`.
    pub async fn finish(self, limit: Duration) {
        let shutdown = move || self.0.shutdown_with_timeout(limit);
        if !matches!(tokio::task::spawn_blocking(shutdown).await, Ok(Ok(()))) {
            tracing::warn!("the last traces could not be sent before shutdown");
        }
    }
}
