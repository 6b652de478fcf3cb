//! The background jobs of an instance. `Job::spec` has what each of them is held to.
//!
//! A job that has no state of its own is made anew when it starts again. The state of the others remains.

use std::sync::Arc;

use super::tls::{Tls, keep_current};
use engine::audit::{Writer, keep_days, traffic};
use engine::db::Primary;
use engine::jobs::{Job, Pulse, Supervisor, watch_leaders};
use engine::jwt::keep_all;
use engine::ledger::Sealer;
use engine::ledger::forward::Forwarder;
use engine::management::security::{RecordedStates, SecurityWriter};
use engine::management::{System, keys};
use sealward_http::App;

/// The jobs that write what requests leave to them. They end last.
pub(super) const WRITERS: [Job; 2] = [Job::AuditWriter, Job::SecurityWriter];

/// Starts the jobs that each instance has.
pub(super) fn start(
    app: &App,
    writer: Writer,
    security_writer: SecurityWriter,
    sealer: Sealer,
) -> Supervisor {
    let mut jobs = Supervisor::new(app.jobs.clone());
    let each = &mut jobs;

    // Without these, the instance is not ready.
    each.run(
        Job::DatabaseMonitor,
        with(app, |app, pulse| app.database_monitor.clone().run(pulse)),
    );
    each.run(
        Job::Notices,
        with(app, |app, pulse| {
            app.catalog
                .clone()
                .listen(app.database.clone(), app.entropy, pulse)
        }),
    );
    each.run_with(writer.spec(), writer, |writer, pulse| {
        Box::pin(writer.run(pulse))
    });

    // Without the others, the service is degraded. One instance at a time does this work:
    let spec = Job::Sealer.spec().every(app.settings.audit.seal.interval.0);
    each.run_with(spec, sealer, |sealer, pulse| Box::pin(sealer.run(pulse)));
    each.run(
        Job::AuditDays,
        with(app, |app, pulse| {
            keep_days(app.clock.clone(), app.database.clone(), pulse)
        }),
    );
    each.run(
        Job::TrafficSums,
        with(app, |app, pulse| {
            let deadline = app.settings.audit.deadline.0;
            traffic::keep(app.clock.clone(), app.database.clone(), deadline, pulse)
        }),
    );

    // Each instance does this work:
    each.run_with(Job::SecurityWriter, security_writer, |writer, pulse| {
        Box::pin(writer.run(pulse))
    });
    let states = (app.clone(), RecordedStates::new());
    each.run_with(Job::TokenEvents, states, |(app, recorded), pulse| {
        let security = app.security.clone();
        Box::pin(security.follow_tokens(app.token.clone(), recorded, pulse))
    });
    each.run(
        Job::KeyMaintenance,
        with(app, |app, pulse| {
            let overlap = app.settings.keys.rotation_overlap.0;
            keys::maintain(housekeeping(app), app.vault.clone(), overlap, pulse)
        }),
    );
    each.run(
        Job::PendingChanges,
        with(app, |app, pulse| {
            app.backlog
                .clone()
                .watch(app.clock.clone(), app.database.clone(), pulse)
        }),
    );
    each.run(
        Job::LastUse,
        with(app, |app, pulse| {
            app.authenticator
                .last_use()
                .clone()
                .keep_written(app.database.clone(), pulse)
        }),
    );
    each.run(
        Job::Leaders,
        with(app, |app, pulse| {
            watch_leaders(app.jobs.clone(), app.database.clone(), pulse)
        }),
    );

    // Some settings need these:
    if app.authenticator.workloads().issuers().next().is_some() {
        each.run(
            Job::IssuerKeys,
            with(app, |app, pulse| {
                let issuers = app.authenticator.workloads().issuers();
                keep_all(issuers.map(|it| it.keys().clone()).collect(), pulse)
            }),
        );
    }
    if let Some(provider) = app.provider.clone() {
        each.run(Job::ProviderKeys, move |pulse| {
            keep_all(vec![provider.keys().clone()], pulse)
        });
    }
    if app.limiter.is_shared() {
        each.run(
            Job::RateLimits,
            with(app, |app, pulse| {
                Arc::clone(&app.limiter).keep(app.database.clone(), pulse)
            }),
        );
    }
    jobs
}

/// Forwards sealed audit records, on one instance at a time.
pub(super) fn forward(jobs: &mut Supervisor, app: &App, forwarder: Forwarder) {
    let spec = Job::Forwarder
        .spec()
        .every(app.settings.audit.forward.interval.0);
    jobs.run_with(spec, forwarder, |forwarder, pulse| {
        Box::pin(forwarder.run(pulse))
    });
}

/// Follows the primary, if there are several servers.
pub(super) fn follow(jobs: &mut Supervisor, primary: Primary) {
    if primary.has_others() {
        let primary = Arc::new(primary);
        jobs.run(Job::Primary, move |pulse| {
            let primary = Arc::clone(&primary);
            async move { primary.follow(|| pulse.alive()).await }
        });
    }
}

/// Reloads the TLS files.
pub(super) fn reload(jobs: &mut Supervisor, tls: Option<Tls>) {
    jobs.run(Job::TlsFiles, move |pulse| keep_current(tls.clone(), pulse));
}

/// A job that needs only the parts of the service.
fn with<W>(
    app: &App,
    start: impl Fn(&App, Pulse) -> W + Send + Sync + 'static,
) -> impl Fn(Pulse) -> W + Send + Sync + 'static
where
    W: Send + 'static,
{
    let app = app.clone();
    move |pulse| start(&app, pulse)
}

/// The actor of periodic work on keys.
fn housekeeping(app: &App) -> System {
    System::new(
        "housekeeping",
        app.clock.clone(),
        app.entropy,
        app.catalog.clone(),
        app.database.clone(),
    )
}
