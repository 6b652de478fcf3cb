//! Checks the admitted requests against the rate limit in every period.

use super::{Guarantee, Violation};
use crate::chaos::history::{
    Answer, Attempt, History, Limit, Moment, Outcome, Span, UnsharedLimits,
};

/// The maximum number of start times to check, evenly distributed.
const WINDOWS: usize = 4_000;

pub(super) fn check(history: &History) -> Vec<Violation> {
    let applications = history.applications.iter().enumerate();
    let limited = applications.filter_map(|(place, application)| Some((place, application.limit?)));
    limited
        .filter_map(|(place, limit)| {
            let own = |attempt: &&Attempt| attempt.application == place && was_admitted(attempt);
            let admitted = history.attempts.iter().filter(own);
            let admitted: Vec<Span> = admitted.map(|attempt| attempt.span).collect();
            largest_excess(history, limit, &admitted).map(|excess| {
                Guarantee::Limited.violated(format!("application {place} of {limit:?}: {excess}"))
            })
        })
        .collect()
}

/// Whether the request definitely consumed a token of the bucket.
fn was_admitted(attempt: &Attempt) -> bool {
    match &attempt.outcome {
        Outcome::Answered(Answer { status, .. }) => !matches!(status, 401 | 429 | 503),
        Outcome::NotSent | Outcome::Lost | Outcome::Silence => false,
    }
}

/// The period with the largest excess over the limit.
fn largest_excess(history: &History, limit: Limit, admitted: &[Span]) -> Option<String> {
    let mut by_end = admitted.to_vec();
    by_end.sort_by_key(|span| span.to);
    let step = admitted.len().div_ceil(WINDOWS).max(1);
    let mut largest_excess: Option<(f64, String)> = None;
    for from in admitted.iter().step_by(step).map(|span| span.from) {
        let mut within = 0.0;
        for to in by_end.iter().filter(|span| span.from >= from).map(|span| span.to) {
            within += 1.0;
            let window = Span { from, to };
            let allowed = allowance(history, limit, window);
            let excess = within - allowed;
            if excess > largest_excess.as_ref().map_or(0.0, |(excess, _)| *excess) {
                let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
                let details = format!(
                    "{within} admitted from {from:.3} s to {to:.3} s, {allowed:.1} allowed"
                );
                largest_excess = Some((excess, details));
            }
        }
    }
    largest_excess.map(|(_, details)| details)
}

/// The maximum number of requests in a period: the bucket and its refill. Losing and regaining the
/// shared limiter can each add a burst, because an instance knows only the last state. Instances that
/// could not be counted can each use the full limit.
fn allowance(history: &History, limit: Limit, window: Span) -> f64 {
    let (rate, burst) = (f64::from(limit.per_second), f64::from(limit.burst));
    let instances = f64::from(history.instances.max(1));
    let mut allowed = 1.0 + burst + rate * seconds(window.from, window.to);
    for UnsharedLimits { span, is_uncounted } in &history.unshared_limits {
        if !span.meets(window) {
            continue;
        }
        let shared = seconds(window.from.max(span.from), window.to.min(span.to));
        allowed += if *is_uncounted {
            2.0 * burst * instances + rate * shared * (instances - 1.0)
        } else {
            2.0 * burst
        };
    }
    allowed
}

fn seconds(from: Moment, to: Moment) -> f64 {
    to.saturating_sub(from).as_secs_f64()
}
