//! Counters of calls, for Prometheus.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tonic::Code;

/// The upper bounds of the buckets in seconds. A call ends within 3 s.
const BOUNDS: [f64; 8] = [0.002, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 3.0];

/// The calls of the API server. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct CallMeter {
    calls: Family<[(&'static str, String); 2], Counter>,
    seconds: Family<[(&'static str, &'static str); 1], Histogram>,
}

impl CallMeter {
    pub(crate) fn new() -> Self {
        let histogram = || Histogram::new(BOUNDS);
        Self { calls: Family::default(), seconds: Family::new_with_constructor(histogram) }
    }

    /// Counts a call.
    pub(crate) fn count(&self, method: &'static str, code: Code, took: Duration) {
        let labels = [("method", method.to_owned()), ("code", format!("{code:?}"))];
        self.calls.get_or_create(&labels).inc();
        self.seconds.get_or_create(&[("method", method)]).observe(took.as_secs_f64());
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "sealward_kube_kms_calls",
            "Calls of the API server by method and gRPC code",
            self.calls.clone(),
        );
        registry.register(
            "sealward_kube_kms_call_seconds",
            "Duration of calls of the API server in seconds",
            self.seconds.clone(),
        );
    }
}
