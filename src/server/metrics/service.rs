//! All metrics, by component.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use super::audit::audit;
use super::jobs::jobs;
use super::limits::limiter;
use super::page::{Page, count, exact, flag, seconds, unix};
use super::process::process;
use super::tokens::tokens;
use crate::server::connections::Connections;
use crate::server::tls::Tls;
use engine::meter::TokenTimes;
use engine::seals::Seals;
use sealward_http::{AppState, DatabaseState};

/// The components to measure.
pub(super) struct ServiceMetrics {
    pub(super) app: Arc<AppState>,
    pub(super) tls: Option<Tls>,
    pub(super) connections: Connections,
    pub(super) token_times: TokenTimes,
}

/// `Collector` requires it.
impl fmt::Debug for ServiceMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceMetrics")
    }
}

impl Collector for ServiceMetrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(encoder);
        let engine = &self.app.engine;
        self.build(page)?;
        process(page)?;
        jobs(page, &engine.jobs)?;
        self.connections(page)?;
        self.requests(page)?;
        tokens(page, &engine.token.status().tokens, &self.token_times)?;
        self.keys(page)?;
        self.floor(page)?;
        self.changes(page)?;
        audit(page, &self.app)?;
        self.issuers(page)?;
        limiter(page, &engine.limiter)?;
        self.database(page)
    }
}

impl ServiceMetrics {
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
            page.gauge(
                "sealward_tls_client_crl_expiry_timestamp_seconds",
                "Earliest expiry of the client revocation lists in use, as a Unix time; absent without a list.",
                tls.lists_end().map(unix),
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
            count(connections.limit()),
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
        let meter = &self.app.engine.meter;
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
            [(vec![("cost", "low")], work.low_cost), (vec![("cost", "high")], work.high_cost)],
        )
    }

    fn keys(&self, page: &mut Page<'_>) -> fmt::Result {
        let vault = &self.app.vault;
        let worn = self.app.database_monitor.worn();
        page.gauge(
            "sealward_keys_worn",
            "Keys that have encrypted so often that they should be rotated; absent if unknown.",
            worn.map(|worn| count(worn.len())),
        )?;
        page.gauge(
            "sealward_keys_missing",
            "Recorded keys that no token held at the last comparison; absent if unknown.",
            vault.latest().map(|latest| count(latest.missing.len())),
        )?;
        page.gauge(
            "sealward_keys_rotation_overdue",
            "Active keys that their successors should have replaced; absent if unknown.",
            vault.overdue().map(count),
        )?;
        page.gauge(
            "sealward_rows_invalid",
            "Rows of the database that do not count, as far as they were read; absent if unknown.",
            self.of_rows(|seals| seals.findings().len()),
        )?;
        page.gauge(
            "sealward_rows_deviating",
            "Rows of the database that are not as their last events or the token say; absent if unknown.",
            self.of_rows(|seals| seals.deviations().len()),
        )?;
        let expiring = vault.expiring().into_iter().flatten();
        page.gauges(
            "sealward_keys_expiring",
            "Active keys that have expired or expire soon, by the time left; absent if unknown.",
            expiring.map(|(expiry, keys)| (vec![("within", expiry.name())], count(keys))),
        )
    }

    fn floor(&self, page: &mut Page<'_>) -> fmt::Result {
        let (floor, keyring) = (&self.app.floor, &self.app.keyring);
        page.counters(
            "sealward_floor_legacy_uses",
            "Operations that opened or verified with an algorithm below the cryptographic floor, by operation and algorithm.",
            keyring.legacy_uses().into_iter().map(|((algorithm, operation), uses)| {
                (vec![("operation", operation.name()), ("algorithm", algorithm)], uses)
            }),
        )?;
        page.gauge(
            "sealward_floor_stopped_rotations",
            "Active keys that are not rotated, because the cryptographic floor does not allow their algorithm; absent if unknown.",
            floor.stopped_rotations().map(|keys| exact(keys.unsigned_abs())),
        )?;
        page.gauge(
            "sealward_floor_differing_instances",
            "Running instances whose cryptographic floor has other settings; absent if unknown.",
            floor.unlike().map(|instances| exact(instances.unsigned_abs())),
        )
    }

    fn of_rows(&self, number: impl Fn(&Seals) -> usize) -> Option<f64> {
        let seals = self.app.engine.database.seals();
        let number = number(seals);
        // Wrong rows that were seen stay wrong. That there are no others is known for some time only.
        let is_known = number > 0 || self.app.row_examination.is_recent();
        (seals.is_unlocked() && is_known).then(|| count(number))
    }

    fn changes(&self, page: &mut Page<'_>) -> fmt::Result {
        let (pending, now) = (self.app.backlog.pending(), self.app.engine.clock.now());
        page.gauge(
            "sealward_changes_pending",
            "Changes that wait for approval; absent if unknown.",
            pending.map(|it| exact(it.number.unsigned_abs())),
        )?;
        page.gauge(
            "sealward_changes_oldest_pending_age_seconds",
            "Time since the oldest pending change was proposed; absent without one.",
            pending.and_then(|it| it.oldest).map(|at| seconds(now.since(at))),
        )
    }

    fn issuers(&self, page: &mut Page<'_>) -> fmt::Result {
        page.gauges(
            "sealward_token_issuer_keys_age_seconds",
            "Time since the keys of a token issuer were fetched, by issuer; +Inf if they never were.",
            self.app.engine.authenticator.workloads().issuers().map(|issuer| {
                let age = issuer.keys().age().map_or(f64::INFINITY, seconds);
                (vec![("issuer", issuer.name())], age)
            }),
        )
    }

    fn database(&self, page: &mut Page<'_>) -> fmt::Result {
        let state = self.app.database_monitor.state();
        let latency = state.latency();
        page.gauge(
            "sealward_database_up",
            "Whether the database responds; absent if unknown.",
            (state != DatabaseState::Unknown).then(|| flag(latency.is_some())),
        )?;
        page.gauge(
            "sealward_database_latency_seconds",
            "Response time of the last database check; absent while the database does not respond.",
            latency.map(seconds),
        )?;
        let pool = self.app.engine.database.current();
        let idle = pool.num_idle();
        let used = usize::try_from(pool.size()).unwrap_or(usize::MAX).saturating_sub(idle);
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
            flag(self.app.engine.catalog.is_current()),
        )
    }
}
