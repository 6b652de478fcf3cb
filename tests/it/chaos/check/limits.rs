//! Requests above and refusals below the rate limit.

use super::{Constructed as _, HERE, PROTECT, THERE, envelope, history, refused, span};
use testkit::chaos::check::Guarantee;
use testkit::chaos::history::{History, UnsharedLimits};

/// This number of requests of the limited application, one per millisecond.
fn burst_of(count: u64) -> History {
    let mut history = history();
    for number in 0..count {
        history = history.with(span(number, number + 1), HERE, PROTECT, envelope());
        let attempt = history.attempts.last_mut().expect("it was added");
        (attempt.application, attempt.api_key) = (1, 1);
        let row = history.rows.last_mut().expect("it has one");
        row.application = Some("svc_two".to_owned());
    }
    history
}

#[test]
fn requests_above_the_limit_are_detected() {
    burst_of(6).is_valid();
    burst_of(7).violates(Guarantee::Limited);
    // Refused and possibly refused requests do not count.
    let mut refusals =
        burst_of(6).with(span(7, 8), THERE, PROTECT, refused(503, "SERVICE_UNAVAILABLE"));
    refusals.attempts[6].application = 1;
    refusals.is_valid();
}

#[test]
fn separate_counting_raises_the_limit_but_does_not_remove_it() {
    let separate = |count, is_uncounted| {
        let mut history = burst_of(count);
        let span = span(0, 1_000);
        history.unshared_limits.push(UnsharedLimits { span, is_uncounted });
        history
    };
    separate(16, false).is_valid();
    separate(17, false).violates(Guarantee::Limited);
    separate(26, true).is_valid();
    separate(27, true).violates(Guarantee::Limited);
}

#[test]
fn a_refusal_below_the_limit_is_detected() {
    history()
        .with(span(0, 10), HERE, PROTECT, refused(429, "RATE_LIMIT_EXCEEDED"))
        .violates(Guarantee::Limited);
}
