//! The metrics of each token.

use std::fmt;

use hsm::{Counters, TokenState, TokenStatus};
use prometheus_client::metrics::MetricType;

use super::page::{Page, count, flag, seconds};
use engine::meter::TokenTimes;

/// One metric of each token.
type OfToken = (&'static str, &'static str, fn(&TokenStatus) -> f64);

const GAUGES: [OfToken; 6] = [
    ("sealward_token_workers", "Worker threads of a token that have a session.", |token| {
        count(token.workers)
    }),
    ("sealward_token_workers_configured", "Configured worker threads of a token.", |token| {
        count(token.workers_configured)
    }),
    (
        "sealward_token_workers_hung",
        "Threads that hang in the PKCS#11 module and were replaced.",
        |token| count(token.hung),
    ),
    ("sealward_token_sessions", "Open sessions of this process on a token.", |token| {
        count(token.sessions)
    }),
    ("sealward_token_queue_operations", "Operations in the queue of a token.", |token| {
        count(token.queued)
    }),
    ("sealward_token_state_age_seconds", "Time since the last state change of a token.", |token| {
        seconds(token.since)
    }),
];

/// One counter of each token.
type CountOfToken = (&'static str, &'static str, fn(&Counters) -> u64);

const COUNTERS: [CountOfToken; 7] = [
    ("sealward_token_operations", "Operations run on a token.", |counters| counters.operations),
    (
        "sealward_token_failures",
        "Operations on a token that failed for another reason than their input.",
        |counters| counters.failures,
    ),
    (
        "sealward_token_unusable",
        "Operations that a token refused whatever their input: the key lacks the usage, or the token the mechanism.",
        |counters| counters.unusable,
    ),
    (
        "sealward_token_key_searches",
        "Searches for a key on a token; the result is cached.",
        |counters| counters.finds,
    ),
    ("sealward_token_sessions_opened", "Sessions opened on a token.", |counters| {
        counters.sessions_opened
    }),
    ("sealward_token_logins", "Login attempts on a token.", |counters| counters.logins),
    ("sealward_token_outages", "Outages of a token.", |counters| counters.outages),
];

pub(super) fn tokens(
    page: &mut Page<'_>,
    tokens: &[TokenStatus],
    times: &TokenTimes,
) -> fmt::Result {
    let states = tokens.iter().flat_map(|token| {
        let present = name_of(&token.state);
        ["serving", "out", "pin_refused", "closed"].map(|state| {
            let labels = vec![("token", token.label.as_str()), ("state", state)];
            (labels, flag(state == present))
        })
    });
    page.gauges("sealward_token_state", "1 for the current state of a token.", states)?;
    page.gauges(
        "sealward_token_canary_duration_seconds",
        "Duration of the last health check of a token.",
        tokens.iter().filter_map(|token| Some((of(token), seconds(token.canary?)))),
    )?;
    for (name, help, value) in GAUGES {
        page.gauges(name, help, tokens.iter().map(|token| (of(token), value(token))))?;
    }
    for (name, help, value) in COUNTERS {
        let values = tokens.iter().map(|token| (of(token), value(&token.counters)));
        page.counters(name, help, values)?;
    }
    let turned_away = tokens.iter().flat_map(|token| {
        let Counters { busy, late, abandoned, .. } = token.counters;
        [("busy", busy), ("late", late), ("abandoned", abandoned)]
            .map(|(reason, number)| ([of(token), vec![("reason", reason)]].concat(), number))
    });
    page.counters(
        "sealward_token_rejected",
        "Operations that never ran: the queue was full, the deadline passed, or the caller disconnected.",
        turned_away,
    )?;
    page.metric(
        "sealward_token_queue_duration_seconds",
        "Time that operations waited in the queue of a token.",
        MetricType::Histogram,
        |encoder| times.encode_queued(encoder),
    )?;
    page.metric(
        "sealward_token_operation_duration_seconds",
        "Duration of operations on a token.",
        MetricType::Histogram,
        |encoder| times.encode_ran(encoder),
    )
}

fn of(token: &TokenStatus) -> Vec<(&'static str, &str)> {
    vec![("token", token.label.as_str())]
}

fn name_of(state: &TokenState) -> &'static str {
    match state {
        TokenState::Serving => "serving",
        TokenState::Out { .. } => "out",
        TokenState::PinRefused { .. } => "pin_refused",
        TokenState::Closed => "closed",
    }
}
