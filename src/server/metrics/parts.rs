//! All metrics, by component.

use std::fmt;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;

use super::page::{Page, count, exact, flag, seconds};
use super::process::process;
use super::tokens::tokens;
use crate::clock::Timestamp;
use crate::http::App;
use crate::ledger::forward::ForwardState;
use crate::ledger::{LogStatus, SealState};
use crate::meter::TokenTimes;
use crate::ratelimit::{Counting, Limiter};
use crate::server::connections::Connections;
use crate::server::tls::Tls;

/// The components to measure.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) app: App,
    pub(super) tls: Option<Tls>,
    pub(super) connections: Connections,
    pub(super) token_times: TokenTimes,
}

impl Collector for Parts {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(encoder);
        self.build(page)?;
        process(page)?;
        self.connections(page)?;
        self.requests(page)?;
        tokens(page, &self.app.token.status().tokens, &self.token_times)?;
        self.keys(page)?;
        self.audit(page)?;
        self.audit_logs(page)?;
        self.forwarding(page)?;
        self.issuers(page)?;
        limiter(page, &self.app.limiter)?;
        self.database(page)
    }
}

impl Parts {
    fn build(&self, page: &mut Page<'_>) -> fmt::Result {
        page.gauges(
            "sealward_build_info",
            "Always 1; its label is the version.",
            [(vec![("version", env!("CARGO_PKG_VERSION"))], 1.0)],
        )?;
        if let Some(tls) = &self.tls {
            page.gauge(
                "sealward_tls_certificate_expiry_timestamp_seconds",
                "Expiry of the certificate in use, as a Unix time.",
                unix(tls.expires()),
            )?;
            page.gauges(
                "sealward_tls_client_crl_expiry_timestamp_seconds",
                "Earliest expiry of the client revocation lists in use, as a Unix time; absent without a list.",
                tls.lists_end().map(|end| (vec![], unix(end))),
            )?;
        }
        Ok(())
    }

    fn connections(&self, page: &mut Page<'_>) -> fmt::Result {
        let connections = &self.connections;
        page.gauge(
            "sealward_http_connections",
            "Open connections to the API.",
            count(connections.open()),
        )?;
        page.gauge(
            "sealward_http_connections_limit",
            "Maximum number of connections to the API.",
            f64::from(connections.limit()),
        )?;
        page.counters(
            "sealward_http_connections_waits",
            "Connections to the API that waited because the maximum was reached.",
            [(vec![], connections.waits())],
        )?;
        page.counters(
            "sealward_http_connections_refused",
            "Connections to the API that were closed because their address has too many.",
            [(vec![], connections.refused())],
        )
    }

    fn requests(&self, page: &mut Page<'_>) -> fmt::Result {
        let meter = &self.app.meter;
        page.metric(
            "sealward_http_requests",
            "Answered requests to the API and the dashboard.",
            MetricType::Counter,
            |encoder| meter.encode_requests(encoder),
        )?;
        page.metric(
            "sealward_http_request_duration_seconds",
            "Duration of requests to the API and the dashboard.",
            MetricType::Histogram,
            |encoder| meter.encode_durations(encoder),
        )?;
        let work = self.app.protection.long_work();
        page.gauge(
            "sealward_large_body_queue_jobs",
            "Jobs on large bodies that wait for a processor.",
            count(work.queued),
        )?;
        page.counters(
            "sealward_large_body_jobs",
            "Jobs on large bodies outside the threads that serve requests, by their cost per byte.",
            [
                (vec![("cost", "low")], work.low_cost),
                (vec![("cost", "high")], work.high_cost),
            ],
        )
    }

    fn keys(&self, page: &mut Page<'_>) -> fmt::Result {
        page.gauge(
            "sealward_keys_worn",
            "Keys that have encrypted so often that they should be rotated.",
            count(self.app.database_monitor.worn().len()),
        )?;
        page.gauge(
            "sealward_keys_missing",
            "Recorded keys that no token held at the last comparison.",
            count(self.app.vault.latest().missing.len()),
        )?;
        page.gauge(
            "sealward_keys_rotation_overdue",
            "Active keys that their successors should have replaced.",
            count(self.app.vault.overdue()),
        )?;
        page.gauges(
            "sealward_keys_expiring",
            "Active keys that have expired or expire soon, by the time left.",
            self.app
                .vault
                .expiring()
                .map(|(expiry, keys)| (vec![("within", expiry.name())], count(keys))),
        )
    }

    fn audit(&self, page: &mut Page<'_>) -> fmt::Result {
        let recorder = &self.app.recorder;
        page.gauge(
            "sealward_audit_up",
            "Whether audit records can be committed.",
            flag(recorder.is_healthy()),
        )?;
        page.gauge(
            "sealward_audit_queue_records",
            "Audit records that wait for a batch.",
            count(recorder.queued()),
        )?;
        page.gauge(
            "sealward_audit_queue_limit_records",
            "Maximum number of audit records that wait.",
            count(self.app.settings.audit.queue),
        )?;
        page.metric(
            "sealward_audit_commit_duration_seconds",
            "Time from the submission of an audit record to its commit.",
            MetricType::Histogram,
            |encoder| recorder.commit_durations().encode(encoder),
        )?;
        page.metric(
            "sealward_audit_batch_records",
            "Audit records per commit.",
            MetricType::Histogram,
            |encoder| recorder.batch_sizes().encode(encoder),
        )?;
        page.counters(
            "sealward_payloads_passed_through",
            "Payloads returned unprotected because their policy was inactive with the failure mode passthrough.",
            [(vec![], recorder.passed_through())],
        )
    }

    fn audit_logs(&self, page: &mut Page<'_>) -> fmt::Result {
        let (present, logs) = (self.app.seal_status.state(), self.app.seal_status.logs());
        page.gauges(
            "sealward_audit_log_state",
            "1 for the state of sealing on this instance: starting, not_initialized, standby, sealing or failed.",
            SealState::NAMES.map(|state| (vec![("state", state)], flag(state == present.name()))),
        )?;
        let now = self.app.clock.now();
        let each = |value: fn(&LogStatus) -> u64| {
            logs.iter()
                .map(move |it| (vec![("log", it.log.name())], exact(value(it))))
        };
        page.gauges(
            "sealward_audit_log_size_records",
            "Sealed audit records, by log; absent before sealward audit init.",
            each(|log| log.size),
        )?;
        page.gauges(
            "sealward_audit_log_unsealed_records",
            "Audit records that are not sealed yet, up to 100,000, by log; absent before sealward audit init.",
            each(|log| log.unsealed),
        )?;
        page.gauges(
            "sealward_audit_log_checkpoint_age_seconds",
            "Age of the latest checkpoint, by log; absent before the first one.",
            logs.iter().filter_map(|it| {
                let age = seconds(now.since(it.checkpoint_at?));
                Some((vec![("log", it.log.name())], age))
            }),
        )?;
        let witnesses = || {
            let all = logs.iter();
            all.flat_map(|log| log.witnesses.iter().map(move |witness| (log, witness)))
        };
        page.gauges(
            "sealward_audit_log_witness_up",
            "Whether the witness cosigned the latest checkpoint that it received, by log and witness.",
            witnesses().map(|(log, witness)| {
                let up = witness.cosigned_at.is_some() && witness.failure.is_none();
                (vec![("log", log.log.name()), ("witness", &witness.name)], flag(up))
            }),
        )?;
        page.gauges(
            "sealward_audit_log_witness_lag_records",
            "Records of the latest checkpoint that the witness has not cosigned, by log and witness.",
            witnesses().map(|(log, witness)| {
                let lag = log.checkpoint_size.saturating_sub(witness.size);
                (vec![("log", log.log.name()), ("witness", &witness.name)], exact(lag))
            }),
        )
    }

    fn issuers(&self, page: &mut Page<'_>) -> fmt::Result {
        page.gauges(
            "sealward_token_issuer_keys_age_seconds",
            "Time since the keys of a token issuer were fetched, by issuer; +Inf if they never were.",
            self.app.authenticator.workloads().issuers().map(|issuer| {
                let age = issuer.keys().age().map_or(f64::INFINITY, seconds);
                (vec![("issuer", issuer.name())], age)
            }),
        )
    }

    fn forwarding(&self, page: &mut Page<'_>) -> fmt::Result {
        let status = &self.app.forward_status;
        let (present, lags) = (status.state(), status.lags());
        page.gauges(
            "sealward_audit_forward_state",
            "1 for the state of forwarding on this instance: off, standby, forwarding or failed.",
            ForwardState::NAMES
                .map(|state| (vec![("state", state)], flag(state == present.name()))),
        )?;
        page.gauges(
            "sealward_audit_forward_lag_records",
            "Sealed audit records that were not sent to the collector yet, by log; absent without forwarding.",
            lags.iter()
                .map(|it| (vec![("log", it.log.name())], exact(it.entries))),
        )?;
        let now = self.app.clock.now();
        page.gauges(
            "sealward_audit_forward_lag_age_seconds",
            "Age of the first audit record that was not sent to the collector yet, by log, or 0; absent without forwarding.",
            lags.iter().map(|it| {
                let age = it.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
                (vec![("log", it.log.name())], seconds(age))
            }),
        )
    }

    fn database(&self, page: &mut Page<'_>) -> fmt::Result {
        let latency = self.app.database_monitor.latency();
        page.gauge(
            "sealward_database_up",
            "Whether the database responds.",
            flag(latency.is_some()),
        )?;
        page.gauges(
            "sealward_database_latency_seconds",
            "Response time of the last database check; absent while the database does not respond.",
            latency.map(|latency| (vec![], seconds(latency))),
        )?;
        let pool = self.app.database.current();
        let idle = pool.num_idle();
        let used = usize::try_from(pool.size())
            .unwrap_or(usize::MAX)
            .saturating_sub(idle);
        page.gauges(
            "sealward_database_connections",
            "Connections to the database, by state.",
            [("idle", idle), ("used", used)]
                .map(|(state, number)| (vec![("state", state)], count(number))),
        )?;
        page.gauge(
            "sealward_database_connections_limit",
            "Maximum number of connections to the database.",
            f64::from(pool.options().get_max_connections()),
        )?;
        page.gauge(
            "sealward_catalog_current",
            "Whether the cache of database records is current; if not, it is not used.",
            flag(self.app.catalog.is_current()),
        )
    }
}

fn limiter(page: &mut Page<'_>, limiter: &Limiter) -> fmt::Result {
    let present = match limiter.counting() {
        Counting::Alone => "alone",
        Counting::Together => "together",
        Counting::Apart(_) => "apart",
    };
    page.gauges(
        "sealward_ratelimit_counting",
        "1 for the current mode of counting limits: alone, together with other instances, or apart while the shared storage is unreachable.",
        ["alone", "together", "apart"].map(|way| (vec![("counting", way)], flag(way == present))),
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
        limiter
            .places()
            .map(|(place, number)| (vec![("counting", place)], number)),
    )?;
    page.counters(
        "sealward_ratelimit_outages",
        "Outages of the shared storage of rate limits; absent without one.",
        limiter.outages().map(|number| (vec![], number)),
    )?;
    page.gauges(
        "sealward_ratelimit_instances",
        "Known instances that share rate limits; absent without shared storage.",
        limiter
            .instances()
            .map(|number| (vec![], f64::from(number.get()))),
    )
}

/// A time as a Unix time.
fn unix(at: Timestamp) -> f64 {
    seconds(Duration::from_millis(at.as_millis().unsigned_abs()))
}
