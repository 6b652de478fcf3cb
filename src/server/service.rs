//! Builds the service and its background jobs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use tokio::task::JoinSet;

use super::connections::Connections;
use super::front::Front;
use super::metrics;
use super::tls::Tls;
use engine::audit::{self, Recorder, Writer};
use engine::auth::oidc::Provider;
use engine::auth::{Authenticator, LastUse, Unusable};
use engine::body_memory::BodyMemory;
use engine::catalog::Catalog;
use engine::db::Pool;
use engine::jwt::PublishedKeys;
use engine::keys::{Encryptions, Keyring, Vault};
use engine::ledger::forward::{Collector, ForwardStatus, Forwarder};
use engine::ledger::{InvalidWitness, PublishedLogs, SealStatus, Sealer};
use engine::management::changes::Backlog;
use engine::management::security::{SecurityLog, SecurityWriter};
use engine::management::{System, keys};
use engine::meter::{Meter, TokenTimes};
use engine::policy::Policies;
use engine::protection::{Modules, Protection};
use engine::ratelimit::Limiter;
use engine::settings::Settings;
use engine::web::Resources;
use formats::clock::{Clock, Entropy};
use sealward_dashboard::Dashboard;
use sealward_http::router::names;
use sealward_http::{Api, App, DatabaseMonitor, document, recorded_status, refusal_json};

/// A running service without its listeners. Dropping it aborts its jobs.
#[derive(Debug)]
pub struct Service {
    app: App,
    dashboard: Dashboard,
    jobs: JoinSet<()>,
    writer: Writer,
    security_writer: SecurityWriter,
    token_times: TokenTimes,
}

/// Why the service cannot start with its settings.
#[derive(Debug, thiserror::Error)]
pub enum CannotStart {
    /// A witness of the audit log cannot be used.
    #[error(transparent)]
    Witness(#[from] InvalidWitness),
    /// An issuer of tokens cannot be used.
    #[error(transparent)]
    Issuer(#[from] Unusable),
}

impl Service {
    /// Builds the service and starts its jobs.
    ///
    /// # Errors
    /// The settings of a witness of the audit log or of an issuer of tokens cannot be used.
    pub async fn start(
        (clock, entropy): (Clock, Entropy),
        settings: Settings,
        database: Pool,
        token: hsm::Token,
        token_times: TokenTimes,
        limiter: Limiter,
        provider: Option<Provider>,
    ) -> Result<Self, CannotStart> {
        let mut jobs = JoinSet::new();
        let catalog = Catalog::new();
        let authenticator = Arc::new(Authenticator::new(
            clock.clone(),
            catalog.clone(),
            database.clone(),
            &settings,
        )?);
        for issuer in authenticator.workloads().issuers() {
            jobs.spawn(keep_keys(issuer.keys().clone()));
        }
        jobs.spawn(listen(catalog.clone(), database.clone(), entropy));
        jobs.spawn(keep_last_use(
            authenticator.last_use().clone(),
            database.clone(),
        ));
        jobs.spawn(keep_days(clock.clone(), database.clone()));
        jobs.spawn(sum_traffic(
            clock.clone(),
            database.clone(),
            settings.audit.deadline.0,
        ));
        let (recorder, writer) =
            Recorder::open(clock.clone(), entropy, database.clone(), &settings.audit);
        let encryptions = Arc::new(Encryptions::new(database.clone()));
        let keyring = Keyring::new(
            &catalog,
            &database,
            token.clone(),
            encryptions.clone(),
            clock.clone(),
        );
        let keyring = Arc::new(keyring);
        let modules = Modules {
            clock: clock.clone(),
            entropy,
            policies: Arc::new(Policies::new(catalog.clone(), database.clone())),
            keyring: keyring.clone(),
            recorder: recorder.clone(),
            post_quantum: settings.envelopes.post_quantum,
            request_timeout: settings.limits.request_timeout.0,
        };
        let database_monitor = DatabaseMonitor::start(&clock, &database, &encryptions).await;
        jobs.spawn(monitor_database(
            database_monitor.clone(),
            clock.clone(),
            database.clone(),
            encryptions,
        ));
        let vault = Vault::new(token.clone(), database.clone(), clock.clone(), entropy);
        let maintenance = System::new(
            "housekeeping",
            clock.clone(),
            entropy,
            catalog.clone(),
            database.clone(),
        );
        let overlap = settings.keys.rotation_overlap.0;
        jobs.spawn(keys::maintain(maintenance, vault.clone(), overlap));
        let (security, security_writer) =
            SecurityLog::open(clock.clone(), entropy, database.clone());
        if let Some(provider) = &provider {
            let keys = provider.keys().clone();
            jobs.spawn(async { match keys.keep().await {} });
        }
        jobs.spawn(follow_tokens(security.clone(), token.clone()));
        let backlog = Backlog::default();
        jobs.spawn(watch_changes(
            backlog.clone(),
            clock.clone(),
            database.clone(),
        ));
        let seal_status = SealStatus::default();
        let seal = &settings.audit.seal;
        let sealer = Sealer::new(database.clone(), token.clone(), seal, seal_status.clone())?;
        jobs.spawn(seal_records(sealer));
        let forward_status = ForwardStatus::default();
        let limiter = Arc::new(limiter);
        jobs.spawn(keep_limiter(limiter.clone(), database.clone()));
        let meter = Arc::new(Meter::new(names().chain(sealward_dashboard::names())));
        let limits = &settings.limits;
        let body_memory = BodyMemory::new(limits.largest_body(), limits.request_timeout.0 / 4);
        let published_logs = PublishedLogs::new(database.clone());
        let resources = Arc::new(Resources {
            body_memory,
            clock,
            entropy,
            settings,
            database,
            catalog,
            authenticator,
            limiter,
            recorder,
            token,
            meter,
        });
        let dashboard = Dashboard::new(sealward_dashboard::Parts {
            resources: resources.clone(),
            vault: vault.clone(),
            security: security.clone(),
            provider: provider.clone(),
            seal_status: seal_status.clone(),
            forward_status: forward_status.clone(),
        });
        let app = App::new(sealward_http::Parts {
            resources,
            protection: Protection::new(modules, recorded_status, refusal_json),
            database_monitor,
            keyring,
            vault,
            security,
            backlog,
            provider,
            published_logs,
            seal_status,
            forward_status,
            draining: AtomicBool::new(false),
            document,
        });
        Ok(Self {
            app,
            dashboard,
            jobs,
            writer,
            security_writer,
            token_times,
        })
    }

    /// Starts to forward sealed audit records to this collector.
    pub fn forward(&mut self, collector: Collector) {
        let app = &self.app;
        let forwarder = Forwarder::new(
            app.database.clone(),
            app.clock.clone(),
            collector,
            &app.settings.audit.forward,
            app.forward_status.clone(),
        );
        self.jobs.spawn(async { match forwarder.run().await {} });
    }

    /// Records security events.
    pub fn security(&self) -> &SecurityLog {
        &self.app.security
    }

    /// The API and the dashboard.
    pub fn front(&self) -> Front {
        Front {
            api: Api::new(self.app.clone()),
            dashboard: sealward_dashboard::router(self.dashboard.clone()),
        }
    }

    /// The probes, for a listener of their own.
    pub fn probes(&self) -> Router {
        sealward_http::probe_router(self.app.clone())
    }

    /// The metrics of this service.
    pub fn metrics(&self, tls: Option<Tls>, connections: Connections) -> Router {
        metrics::router(self.app.clone(), tls, connections, self.token_times.clone())
    }

    /// Makes `/readyz` fail, so that load balancers stop sending requests.
    pub fn drain(&self) {
        self.app.drain();
    }

    /// Stops the jobs after they have written their data.
    pub async fn finish(mut self) {
        self.jobs.shutdown().await;
        // The token responds within its deadline or never.
        let settings = &self.app.settings;
        if !self.app.protection.finish(settings.hsm.deadline.0).await {
            tracing::error!("operations of disconnected clients timed out and are not recorded");
        }
        // After this deadline the requests of the records have failed.
        let patience = self.app.settings.audit.deadline.0;
        self.writer.finish(patience).await;
        self.security_writer.finish().await;
        let last_use = self.app.authenticator.last_use();
        if let Err(error) = last_use.flush(&self.app.database).await {
            tracing::warn!(%error, "the last use of credentials could not be written");
        }
    }
}

/// The maximum delay of a key's `lastUsedAt`.
const LAST_USE_PERIOD: Duration = Duration::from_secs(5);

async fn listen(catalog: Catalog, database: Pool, entropy: Entropy) {
    let never = catalog.listen(database, entropy).await;
    match never {}
}

async fn keep_keys(keys: PublishedKeys) {
    let never = keys.keep().await;
    match never {}
}

async fn seal_records(sealer: Sealer) {
    let never = sealer.run().await;
    match never {}
}

async fn keep_days(clock: Clock, database: Pool) {
    let never = audit::keep_days(clock, database).await;
    match never {}
}

async fn watch_changes(backlog: Backlog, clock: Clock, database: Pool) {
    match backlog.watch(&clock, &database).await {}
}

async fn follow_tokens(security: SecurityLog, token: hsm::Token) {
    let never = security.follow_tokens(token).await;
    match never {}
}

async fn keep_limiter(limiter: Arc<Limiter>, database: Pool) {
    let never = limiter.keep(database).await;
    match never {}
}

async fn sum_traffic(clock: Clock, database: Pool, deadline: Duration) {
    let never = audit::traffic::keep(clock, database, deadline).await;
    match never {}
}

async fn monitor_database(
    monitor: DatabaseMonitor,
    clock: Clock,
    database: Pool,
    encryptions: Arc<Encryptions>,
) {
    let never = monitor.run(clock, database, &encryptions).await;
    match never {}
}

async fn keep_last_use(last_use: LastUse, database: Pool) {
    let mut period = tokio::time::interval(LAST_USE_PERIOD);
    loop {
        period.tick().await;
        // It is kept for the next attempt; other jobs report the outage.
        if let Err(error) = last_use.flush(&database).await {
            tracing::debug!(%error, "the last use of credentials could not be written yet");
        }
    }
}
