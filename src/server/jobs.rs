//! The background jobs of an instance. `Job::spec` has what each of them is held to.
//!
//! A restarted job keeps its state, if it has one of its own.

use std::sync::Arc;

use super::tls::{Tls, keep_current};
use engine::audit::{Writer, keep_days, traffic};
use engine::db::Primary;
use engine::jobs::{Job, Pulse, Supervisor, watch_leaders};
use engine::jwt::keep_all;
use engine::keys::watch_public_keys;
use engine::ledger::Sealer;
use engine::ledger::forward::Forwarder;
use engine::management::security::{RecordedStates, SecurityWriter};
use engine::management::{System, keys};
use engine::rows::{self, RecordedFindings};
use engine::settings::Forward;
use engine::web::Engine;
use sealward_http::AppState;

/// The jobs that write what requests leave to them. They end last.
pub(super) const WRITERS: [Job; 2] = [Job::AuditWriter, Job::SecurityWriter];

/// Starts the jobs that each instance has.
pub(super) fn start(
    app: &Arc<AppState>,
    writer: Writer,
    security_writer: SecurityWriter,
    sealer: Sealer,
) -> Supervisor {
    let engine = &app.engine;
    let mut jobs = Supervisor::new(engine.jobs.clone());
    let each = &mut jobs;

    // Without these, the instance is not ready.
    each.run(Job::DatabaseMonitor, with(app, |app, pulse| app.database_monitor.clone().run(pulse)));
    each.run(
        Job::Notices,
        with(engine, |engine, pulse| {
            let catalog = engine.catalog.clone();
            let floor = engine.settings.crypto.floor();
            catalog.listen(engine.database.clone(), floor, engine.entropy, pulse)
        }),
    );
    each.run_with(writer.spec(), writer, |writer, pulse| Box::pin(writer.run(pulse)));

    // Without the others, the service is degraded. One instance at a time does this work:
    let spec = Job::Sealer.spec().every(engine.settings.audit.seal.interval.0);
    each.run_with(spec, sealer, |sealer, pulse| Box::pin(sealer.run(pulse)));
    each.run(
        Job::AuditDays,
        with(engine, |engine, pulse| {
            keep_days(engine.clock.clone(), engine.database.clone(), pulse)
        }),
    );
    each.run(
        Job::TrafficSums,
        with(engine, |engine, pulse| {
            let deadline = engine.settings.audit.deadline.0;
            traffic::keep(engine.clock.clone(), engine.database.clone(), deadline, pulse)
        }),
    );

    each.run(Job::PublicKeys, with(app, |app, pulse| watch_public_keys(app.vault.clone(), pulse)));

    // Each instance does this work:
    each.run_with(Job::SecurityWriter, security_writer, |writer, pulse| {
        Box::pin(writer.run(pulse))
    });
    let states = (app.clone(), RecordedStates::new());
    each.run_with(Job::TokenEvents, states, |(app, recorded), pulse| {
        let security = app.security.clone();
        Box::pin(security.follow_tokens(app.engine.token.clone(), recorded, pulse))
    });
    each.run(
        Job::KeyMaintenance,
        with(app, |app, pulse| {
            let overlap = app.engine.settings.keys.rotation_overlap.0;
            keys::maintain(housekeeping(&app.engine), app.vault.clone(), overlap, pulse)
        }),
    );
    each.run_with(Job::Rows, (app.clone(), RecordedFindings::new()), |(app, recorded), pulse| {
        let (pool, token) = (app.engine.database.clone(), app.engine.token.clone());
        let kept = (app.row_examination.clone(), recorded);
        Box::pin(rows::watch(pool, token, app.security.clone(), kept, pulse))
    });
    each.run(
        Job::Floor,
        with(app, |app, pulse| app.floor.clone().watch(app.engine.database.clone(), pulse)),
    );
    each.run(
        Job::PendingChanges,
        with(app, |app, pulse| {
            app.backlog.clone().watch(app.engine.clock.clone(), app.engine.database.clone(), pulse)
        }),
    );
    each.run(
        Job::LastUse,
        with(engine, |engine, pulse| {
            let last_use = engine.authenticator.last_use().clone();
            last_use.keep_written(engine.database.clone(), pulse)
        }),
    );
    each.run(
        Job::Leaders,
        with(engine, |engine, pulse| {
            watch_leaders(engine.jobs.clone(), engine.database.clone(), pulse)
        }),
    );

    // Some settings need these:
    if engine.authenticator.workloads().issuers().next().is_some() {
        each.run(
            Job::IssuerKeys,
            with(engine, |engine, pulse| {
                let issuers = engine.authenticator.workloads().issuers();
                keep_all(issuers.map(|it| it.keys().clone()).collect(), pulse)
            }),
        );
    }
    if let Some(provider) = app.provider.clone() {
        each.run(Job::ProviderKeys, move |pulse| keep_all(vec![provider.keys().clone()], pulse));
    }
    if engine.limiter.is_shared() {
        each.run(
            Job::RateLimits,
            with(engine, |engine, pulse| {
                Arc::clone(&engine.limiter).keep(engine.database.clone(), pulse)
            }),
        );
    }
    jobs
}

/// Forwards sealed audit records, on one instance at a time.
pub(super) fn forward(jobs: &mut Supervisor, settings: &Forward, forwarder: Forwarder) {
    let spec = Job::Forwarder.spec().every(settings.interval.0);
    jobs.run_with(spec, forwarder, |forwarder, pulse| Box::pin(forwarder.run(pulse)));
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

/// A job that needs only shared state.
fn with<T, W>(
    shared: &Arc<T>,
    start: impl Fn(&T, Pulse) -> W + Send + Sync + 'static,
) -> impl Fn(Pulse) -> W + Send + Sync + 'static
where
    T: Send + Sync + 'static,
    W: Send + 'static,
{
    let shared = shared.clone();
    move |pulse| start(&shared, pulse)
}

/// The actor of periodic work on keys.
fn housekeeping(engine: &Engine) -> System {
    System::new(
        "housekeeping",
        engine.clock.clone(),
        engine.entropy,
        engine.catalog.clone(),
        engine.database.clone(),
    )
    .with_floor(engine.settings.crypto.floor())
}
