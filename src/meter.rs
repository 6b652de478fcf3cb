//! What requests come to, counted: by route, status and code, and how long they took.
//!
//! Labels are of fixed sets, whatever clients send, and counting takes no memory once a label has
//! been seen.

use std::collections::HashMap;
use std::time::Duration;

use hsm::{Counted, Spread, TIMES};
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// The label of a route that there is not.
const OTHER: &str = "other";

/// The methods that there are routes for.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "DELETE", "HEAD"];

/// Counts requests.
#[derive(Debug)]
pub struct Meter {
    times: HashMap<&'static str, Spread<{ TIMES.len() }>>,
    others: Spread<{ TIMES.len() }>,
    answers: Family<Labels, Counter>,
}

/// What tells requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    route: &'static str,
    method: &'static str,
    status: u16,
    code: &'static str,
}

impl Meter {
    /// A meter of these routes.
    #[must_use]
    pub fn new(routes: impl IntoIterator<Item = &'static str>) -> Self {
        let routes = routes.into_iter();
        Self {
            times: routes.map(|route| (route, Spread::new(TIMES))).collect(),
            others: Spread::new(TIMES),
            answers: Family::default(),
        }
    }

    /// Counts a request that was answered: with this status, with this code where it is an error,
    /// after this time.
    pub fn count(
        &self,
        route: Option<&str>,
        method: &str,
        status: u16,
        code: Option<&'static str>,
        took: Duration,
    ) {
        let known = route.and_then(|route| self.times.get_key_value(route));
        let (route, times) = known.map_or((OTHER, &self.others), |(route, times)| (*route, times));
        times.time(took);
        let method = METHODS.iter().find(|known| **known == method);
        let labels = Labels {
            route,
            method: method.copied().unwrap_or(OTHER),
            status,
            code: code.unwrap_or_default(),
        };
        self.answers.get_or_create(&labels).inc();
    }

    /// How long requests took, by route, those of no route last.
    pub fn times(&self) -> impl Iterator<Item = (&'static str, Counted<{ TIMES.len() }>)> {
        let mut routes: Vec<_> = self.times.iter().collect();
        routes.sort_unstable_by_key(|(route, _)| **route);
        let routes = routes.into_iter().map(|(route, times)| (*route, times));
        let all = routes.chain([(OTHER, &self.others)]);
        all.map(|(route, times)| (route, times.read()))
    }

    /// Writes how many requests there were.
    ///
    /// # Errors
    /// When what is written to takes no more.
    pub fn encode(&self, encoder: MetricEncoder<'_>) -> std::fmt::Result {
        self.answers.encode(encoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_make_up_is_no_label() {
        let meter = Meter::new(["/a"]);
        let took = Duration::from_millis(1);
        meter.count(Some("/a"), "GET", 200, None, took);
        meter.count(Some("/b"), "BREW", 404, Some("NOT_FOUND"), took);
        meter.count(None, "BAKE", 404, Some("NOT_FOUND"), took);
        let totals: Vec<_> = meter
            .times()
            .map(|(route, times)| (route, times.total()))
            .collect();
        assert_eq!(totals, [("/a", 1), ("other", 2)]);
        let made_up = Labels {
            route: OTHER,
            method: OTHER,
            status: 404,
            code: "NOT_FOUND",
        };
        assert_eq!(meter.answers.get_or_create(&made_up).get(), 2);
    }
}
