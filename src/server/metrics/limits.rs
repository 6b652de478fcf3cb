//! Metrics of rate limits.

use std::fmt;

use super::page::{Page, flag};
use engine::ratelimit::{Counting, Limiter};

/// Metrics of the limiter.
pub(super) fn limiter(page: &mut Page<'_>, limiter: &Limiter) -> fmt::Result {
    let present = match limiter.counting() {
        Counting::Alone => "alone",
        Counting::Together => "together",
        Counting::Apart(_) => "apart",
        Counting::Unknown => "unknown",
    };
    page.gauges(
        "sealward_ratelimit_counting",
        "1 for the current mode of counting limits: alone, together with other instances, apart while the shared storage is unreachable, or unknown.",
        ["alone", "together", "apart", "unknown"].map(|way| (vec![("counting", way)], flag(way == present))),
    )?;
    let values = limiter.counts().into_iter().flat_map(|counts| {
        [("admitted", counts.admitted), ("refused", counts.refused)]
            .map(|(outcome, number)| (vec![("scope", counts.scope), ("outcome", outcome)], number))
    });
    page.counters(
        "sealward_ratelimit_requests",
        "Decisions of the rate limiter, by scope and outcome.",
        values,
    )?;
    page.counters(
        "sealward_ratelimit_decisions",
        "Decisions of the rate limiter, by mode of counting.",
        limiter.places().map(|(place, number)| (vec![("counting", place)], number)),
    )?;
    page.counters(
        "sealward_ratelimit_outages",
        "Outages of the shared storage of rate limits; absent without one.",
        limiter.outages().map(|number| (vec![], number)),
    )?;
    page.gauge(
        "sealward_ratelimit_instances",
        "Known instances that share rate limits; absent without shared storage.",
        limiter.instances().map(|number| f64::from(number.get())),
    )
}
