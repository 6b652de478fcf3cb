//! Every metric there is, by the part of the service that it tells of.

use std::fmt;
use std::time::Duration;

use hsm::{Counters, TokenState, TokenStatus};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use super::page::{Page, exact, seconds};
use crate::clock::Timestamp;
use crate::http::App;
use crate::ratelimit::{Counting, Limiter};
use crate::server::connections::Connections;
use crate::server::tls::Tls;

/// Times are counted in microseconds and told in seconds.
const MICROS: f64 = 1_000_000.0;

/// The parts that are asked.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) app: App,
    pub(super) tls: Option<Tls>,
    pub(super) connections: Connections,
}

impl Collector for Parts {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(encoder);
        self.build(page)?;
        self.connections(page)?;
        self.requests(page)?;
        tokens(page, &self.app.token.status().tokens)?;
        self.keys(page)?;
        self.audit(page)?;
        limiter(page, &self.app.limiter)?;
        self.database(page)
    }
}

impl Parts {
    fn build(&self, page: &mut Page<'_>) -> fmt::Result {
        page.gauges(
            "sealward_build_info",
            "Always 1; its label tells the version.",
            [(vec![("version", env!("CARGO_PKG_VERSION"))], 1.0)],
        )?;
        if let Some(tls) = &self.tls {
            page.gauge(
                "sealward_tls_certificate_expiry_timestamp_seconds",
                "When the certificate in use ends, as a Unix time.",
                unix(tls.expires()),
            )?;
            page.gauges(
                "sealward_tls_client_crl_expiry_timestamp_seconds",
                "When the first revocation list of clients in use runs out, as a Unix time; absent without one.",
                tls.lists_end().map(|end| (vec![], unix(end))),
            )?;
        }
        Ok(())
    }

    fn connections(&self, page: &mut Page<'_>) -> fmt::Result {
        let connections = &self.connections;
        page.gauge(
            "sealward_http_connections",
            "Connections to the API that are open.",
            count(connections.open()),
        )?;
        page.gauge(
            "sealward_http_connections_limit",
            "Connections to the API that there may be.",
            f64::from(connections.limit()),
        )?;
        page.counters(
            "sealward_http_connections_waits",
            "How often a connection to the API had to wait for another to end.",
            [(vec![], connections.waits())],
        )
    }

    fn requests(&self, page: &mut Page<'_>) -> fmt::Result {
        let meter = &self.app.meter;
        page.metric(
            "sealward_http_requests",
            "Requests to the API and the dashboard that were answered.",
            MetricType::Counter,
            |encoder| meter.encode(encoder),
        )?;
        page.histograms(
            "sealward_http_request_duration_seconds",
            "How long requests to the API and the dashboard took in all.",
            MICROS,
            meter
                .times()
                .map(|(route, times)| (vec![("route", route)], times)),
        )
    }

    fn keys(&self, page: &mut Page<'_>) -> fmt::Result {
        page.gauge(
            "sealward_keys_worn",
            "Keys that have encrypted so often that they should be replaced.",
            count(self.app.pulse.worn().len()),
        )?;
        page.gauge(
            "sealward_keys_missing",
            "Recorded keys that no token held when they were last compared.",
            count(self.app.vault.latest().missing.len()),
        )
    }

    fn audit(&self, page: &mut Page<'_>) -> fmt::Result {
        let recorder = &self.app.recorder;
        page.gauge(
            "sealward_audit_up",
            "Whether audit records can be committed.",
            flag(recorder.is_well()),
        )?;
        page.gauge(
            "sealward_audit_queue_records",
            "Audit records that wait to be taken into a batch.",
            count(recorder.queued()),
        )?;
        page.gauge(
            "sealward_audit_queue_limit_records",
            "Audit records that may wait.",
            count(self.app.settings.audit.queue),
        )?;
        let counted = recorder.counted();
        page.histograms(
            "sealward_audit_commit_duration_seconds",
            "How long audit records took from being handed over to being committed.",
            MICROS,
            [(vec![], counted.commits)],
        )?;
        page.histograms(
            "sealward_audit_batch_records",
            "How many audit records were committed together.",
            1.0,
            [(vec![], counted.batches)],
        )
    }

    fn database(&self, page: &mut Page<'_>) -> fmt::Result {
        let latency = self.app.pulse.latency();
        page.gauge(
            "sealward_database_up",
            "Whether the database answers.",
            flag(latency.is_some()),
        )?;
        page.gauges(
            "sealward_database_latency_seconds",
            "How long the database took to answer last; absent while it does not.",
            latency.map(|latency| (vec![], seconds(latency))),
        )?;
        let pool = &self.app.database;
        let idle = pool.num_idle();
        let used = usize::try_from(pool.size())
            .unwrap_or(usize::MAX)
            .saturating_sub(idle);
        page.gauges(
            "sealward_database_connections",
            "Connections to the database, by what they do.",
            [("idle", idle), ("used", used)]
                .map(|(state, number)| (vec![("state", state)], count(number))),
        )?;
        page.gauge(
            "sealward_database_connections_limit",
            "Connections to the database that there may be.",
            f64::from(pool.options().get_max_connections()),
        )?;
        page.gauge(
            "sealward_catalog_current",
            "Whether what is cached of the database is known to be current; if not, nothing cached is used.",
            flag(self.app.catalog.is_current()),
        )
    }
}

/// One metric of each token.
type OfToken = (&'static str, &'static str, fn(&TokenStatus) -> f64);

const GAUGES: [OfToken; 5] = [
    (
        "sealward_token_workers",
        "Worker threads of a token at work or ready for it.",
        |token| count(token.workers),
    ),
    (
        "sealward_token_workers_hung",
        "Threads that hang inside the vendor's module of a token and were replaced.",
        |token| count(token.hung),
    ),
    (
        "sealward_token_sessions",
        "Sessions that this process has open on a token.",
        |token| count(token.sessions),
    ),
    (
        "sealward_token_queue_operations",
        "Operations that wait for a worker of a token.",
        |token| count(token.queued),
    ),
    (
        "sealward_token_state_age_seconds",
        "How long a token has been in its state.",
        |token| seconds(token.since),
    ),
];

/// One counter of each token.
type CountOfToken = (&'static str, &'static str, fn(&Counters) -> u64);

const COUNTERS: [CountOfToken; 6] = [
    (
        "sealward_token_operations",
        "Operations that a worker of a token has run.",
        |counters| counters.operations,
    ),
    (
        "sealward_token_failures",
        "Operations on a token that ended with an error.",
        |counters| counters.failures,
    ),
    (
        "sealward_token_key_searches",
        "Searches for a key on a token; a key is found once.",
        |counters| counters.finds,
    ),
    (
        "sealward_token_sessions_opened",
        "Sessions opened on a token.",
        |counters| counters.sessions_opened,
    ),
    (
        "sealward_token_logins",
        "Logins tried on a token.",
        |counters| counters.logins,
    ),
    (
        "sealward_token_outages",
        "How often the breaker of a token opened.",
        |counters| counters.outages,
    ),
];

fn tokens(page: &mut Page<'_>, tokens: &[TokenStatus]) -> fmt::Result {
    let states = tokens.iter().flat_map(|token| {
        let present = name_of(&token.state);
        ["serving", "out", "pin_refused", "closed"].map(|state| {
            let labels = vec![("token", token.label.as_str()), ("state", state)];
            (labels, flag(state == present))
        })
    });
    page.gauges(
        "sealward_token_state",
        "1 at the state that a token is in: the breaker is closed while it is serving.",
        states,
    )?;
    page.gauges(
        "sealward_token_canary_duration_seconds",
        "How long the last canary of a token took.",
        tokens
            .iter()
            .filter_map(|token| Some((of(token), seconds(token.canary?)))),
    )?;
    for (name, help, value) in GAUGES {
        page.gauges(
            name,
            help,
            tokens.iter().map(|token| (of(token), value(token))),
        )?;
    }
    for (name, help, value) in COUNTERS {
        let values = tokens
            .iter()
            .map(|token| (of(token), value(&token.counters)));
        page.counters(name, help, values)?;
    }
    let turned_away = tokens.iter().flat_map(|token| {
        let Counters {
            busy,
            late,
            abandoned,
            ..
        } = token.counters;
        [("busy", busy), ("late", late), ("abandoned", abandoned)]
            .map(|(reason, number)| ([of(token), vec![("reason", reason)]].concat(), number))
    });
    page.counters(
        "sealward_token_rejected",
        "Operations that never ran: the queue was full, their turn came too late, their caller had gone.",
        turned_away,
    )?;
    page.histograms(
        "sealward_token_queue_duration_seconds",
        "How long operations waited for a worker of a token.",
        MICROS,
        tokens
            .iter()
            .map(|token| (of(token), token.counters.waited)),
    )?;
    page.histograms(
        "sealward_token_operation_duration_seconds",
        "How long operations ran on a token.",
        MICROS,
        tokens
            .iter()
            .map(|token| (of(token), token.counters.worked)),
    )
}

fn limiter(page: &mut Page<'_>, limiter: &Limiter) -> fmt::Result {
    let present = match limiter.counting() {
        Counting::Alone => "alone",
        Counting::Together => "together",
        Counting::Apart(_) => "apart",
    };
    page.gauges(
        "sealward_ratelimit_counting",
        "1 at how limits are counted: by this instance alone, together with the others, or apart from them because the shared place is out of reach.",
        ["alone", "together", "apart"].map(|way| (vec![("counting", way)], flag(way == present))),
    )?;
    let values = limiter.counts().into_iter().flat_map(|counts| {
        [("admitted", counts.admitted), ("refused", counts.refused)]
            .map(|(outcome, number)| (vec![("scope", counts.scope), ("outcome", outcome)], number))
    });
    page.counters(
        "sealward_ratelimit_requests",
        "What the rate limiter decided, by whose limit it was.",
        values,
    )?;
    page.counters(
        "sealward_ratelimit_decisions",
        "Decisions of the rate limiter, by where they were made: by this instance alone, together with the others, or apart from them.",
        limiter.places().map(|(place, number)| (vec![("counting", place)], number)),
    )?;
    page.counters(
        "sealward_ratelimit_outages",
        "How often the shared place of the limits was lost, which opens its breaker; absent without one.",
        limiter.outages().map(|number| (vec![], number)),
    )?;
    page.gauges(
        "sealward_ratelimit_instances",
        "Instances that there are, as far as this one knows; apart, each gives out its part of the limits. Absent without a shared place.",
        limiter.instances().map(|number| (vec![], f64::from(number.get()))),
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

fn count(number: usize) -> f64 {
    exact(u64::try_from(number).unwrap_or(u64::MAX))
}

/// A moment as a Unix time.
fn unix(at: Timestamp) -> f64 {
    seconds(Duration::from_millis(at.as_millis().unsigned_abs()))
}

fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}
