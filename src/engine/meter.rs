//! Counters and histograms of requests and of token operations, in the types of Prometheus.
//!
//! Labels come from closed sets, whatever clients send, so that the number of series is bounded.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
pub use prometheus_client::metrics::histogram::Histogram;

/// The label of requests that no route matches.
const OTHER: &str = "other";

/// The methods that routes have.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "LIST"];

/// The upper bounds of durations, in seconds.
const SECONDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// Histograms that differ in their labels.
pub(crate) type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// An empty histogram of durations, in seconds.
pub fn durations() -> Histogram {
    Histogram::new(SECONDS)
}

/// Counts requests.
#[derive(Debug)]
pub struct Meter {
    routes: HashSet<&'static str>,
    requests: Family<RequestLabels, Counter>,
    durations: Histograms<RouteLabel>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    method: &'static str,
    status: u16,
    code: &'static str,
}

impl Meter {
    /// A meter of these routes.
    pub fn new(routes: impl IntoIterator<Item = &'static str>) -> Self {
        let routes: HashSet<_> = routes.into_iter().collect();
        let durations = Histograms::new_with_constructor(durations as fn() -> Histogram);
        for route in routes.iter().copied().chain([OTHER]) {
            let _ = durations.get_or_create(&RouteLabel { route });
        }
        Self { routes, requests: Family::default(), durations }
    }

    /// Counts an answered request: its status, the code of its error, and its duration.
    pub fn count(
        &self,
        route: Option<&str>,
        method: &str,
        status: u16,
        code: Option<&'static str>,
        took: Duration,
    ) {
        let route = route.and_then(|route| self.routes.get(route));
        let route = route.copied().unwrap_or(OTHER);
        let durations = self.durations.get_or_create(&RouteLabel { route });
        durations.observe(took.as_secs_f64());
        let method = METHODS.iter().find(|known| **known == method);
        let labels = RequestLabels {
            route,
            method: method.copied().unwrap_or(OTHER),
            status,
            code: code.unwrap_or_default(),
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// Writes the number of requests.
    pub fn encode_requests(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.requests.encode(encoder)
    }

    /// Writes the durations of requests.
    pub fn encode_durations(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.durations.encode(encoder)
    }
}

/// The durations of operations on tokens. Clones share them.
#[derive(Clone, Debug)]
pub struct TokenTimes {
    queued: Histograms<TokenLabel>,
    ran: Histograms<TokenLabel>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabel {
    token: String,
}

impl Default for TokenTimes {
    fn default() -> Self {
        let empty = || Histograms::new_with_constructor(durations as fn() -> Histogram);
        Self { queued: empty(), ran: empty() }
    }
}

impl TokenTimes {
    /// Writes how long operations waited in the queue.
    pub fn encode_queued(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.queued.encode(encoder)
    }

    /// Writes how long operations ran.
    pub fn encode_ran(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.ran.encode(encoder)
    }
}

impl hsm::Observer for TokenTimes {
    fn operation(&self, token: &str, queued: Duration, ran: Duration) {
        let token = token.to_owned();
        let label = TokenLabel { token };
        let observe = |times: &Histograms<_>, time: Duration| {
            times.get_or_create(&label).observe(time.as_secs_f64());
        };
        observe(&self.queued, queued);
        observe(&self.ran, ran);
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn labels_from_clients_count_as_other() {
        let meter = Meter::new(["/a"]);
        let took = Duration::from_millis(1);
        meter.count(Some("/a"), "GET", 200, None, took);
        meter.count(Some("/b"), "BREW", 404, Some("NOT_FOUND"), took);
        meter.count(None, "BAKE", 404, Some("NOT_FOUND"), took);
        let mut registry = Registry::default();
        registry.register("requests", "Requests", meter.requests.clone());
        registry.register("durations", "Durations", meter.durations.clone());
        let mut page = String::new();
        encode(&mut page, &registry).unwrap();
        for line in [
            r#"requests_total{route="other",method="other",status="404",code="NOT_FOUND"} 2"#,
            r#"durations_count{route="/a"} 1"#,
            r#"durations_count{route="other"} 2"#,
            r#"durations_bucket{le="0.001",route="other"} 2"#,
            r#"durations_bucket{le="0.0005",route="other"} 0"#,
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
