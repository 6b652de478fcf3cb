//! Builds the service and its background jobs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;

use super::connections::Connections;
use super::front::Front;
use super::jobs;
use super::metrics;
use super::tls::Tls;
use engine::audit::Recorder;
use engine::auth::oidc::Provider;
use engine::auth::{Authenticator, EmergencySwitch, Sessions, Unusable};
use engine::body_memory::BodyMemory;
use engine::catalog::Catalog;
use engine::db::{Pool, Primary};
use engine::jobs::{Board, Job, Supervisor};
use engine::keys::{Encryptions, Keyring, Vault};
use engine::ledger::forward::{Collector, ForwardStatus, Forwarder};
use engine::ledger::{InvalidWitness, PublishedLogs, SealStatus, Sealer};
use engine::management::changes::Backlog;
use engine::management::floor::FloorWatch;
use engine::management::security::SecurityLog;
use engine::meter::{Meter, TokenTimes};
use engine::policy::Policies;
use engine::protection::{Dependencies, Protection};
use engine::ratelimit::Limiter;
use engine::rows::ExaminationStatus;
use engine::settings::Settings;
use engine::shares::BODY_PATIENCE;
use engine::web::Engine;
use formats::clock::{Clock, Entropy};
use sealward_dashboard::{Dashboard, SharedDashboard};
use sealward_http::router::names;
use sealward_http::{Api, AppState, DatabaseMonitor, document, refusal_json, status_of};
use sealward_transit::{HeldRefusals, Transit, TransitApi, templates};

/// The time limit for the security events that remain at shutdown.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// A running service without its listeners. Dropping it aborts its jobs.
pub struct Service {
    app: Arc<AppState>,
    dashboard: SharedDashboard,
    jobs: Supervisor,
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
    pub async fn start(
        (clock, entropy): (Clock, Entropy),
        settings: Settings,
        database: Pool,
        token: hsm::Token,
        token_times: TokenTimes,
        limiter: Limiter,
        provider: Option<Provider>,
    ) -> Result<Self, CannotStart> {
        let catalog = Catalog::new();
        let emergency = EmergencySwitch::new(catalog.clone(), database.clone());
        let authenticator = Arc::new(Authenticator::new(
            clock.clone(),
            catalog.clone(),
            database.clone(),
            emergency.clone(),
            &settings,
        )?);
        let (recorder, writer) =
            Recorder::open(clock.clone(), entropy, database.clone(), &settings.audit);
        let encryptions = Arc::new(Encryptions::new(database.clone()));
        let floor = settings.crypto.floor();
        let keyring = Keyring::new(
            &catalog,
            &database,
            token.clone(),
            encryptions.clone(),
            clock.clone(),
            floor,
        );
        let keyring = Arc::new(keyring);
        let modules = Dependencies {
            clock: clock.clone(),
            entropy,
            policies: Arc::new(Policies::new(catalog.clone(), database.clone(), emergency, floor)),
            keyring: keyring.clone(),
            recorder: recorder.clone(),
            floor,
            post_quantum: settings.envelopes.post_quantum,
            request_timeout: settings.limits.request_timeout.0,
        };
        let database_monitor =
            DatabaseMonitor::start(clock.clone(), database.clone(), encryptions).await;
        let vault = Vault::new(token.clone(), database.clone(), clock.clone(), entropy);
        let (security, security_writer) =
            SecurityLog::open(clock.clone(), entropy, database.clone());
        let backlog = Backlog::new(clock.clone());
        let floor_watch = FloorWatch::new(clock.clone(), floor);
        let seal = &settings.audit.seal;
        let seal_status = SealStatus::new(clock.clone(), seal.interval.0);
        let mut sealer = Sealer::new(database.clone(), token.clone(), seal, seal_status.clone())?;
        sealer.compare_at_start().await;
        let row_examination = ExaminationStatus::new(clock.clone());
        let forward_status = ForwardStatus::new(clock.clone(), settings.audit.forward.interval.0);
        let limiter = Arc::new(limiter);
        let meter =
            Arc::new(Meter::new(names().chain(templates()).chain(sealward_dashboard::names())));
        let limits = &settings.limits;
        let body_memory =
            BodyMemory::new(limits.largest_body(), limits.request_timeout.0 / BODY_PATIENCE);
        let published_logs = PublishedLogs::new(database.clone());
        let sessions = Arc::new(Sessions::new(database.clone(), &settings.admin));
        let engine = Arc::new(Engine {
            jobs: Board::new(clock.clone()),
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
        let dashboard = Arc::new(Dashboard {
            engine: engine.clone(),
            sessions,
            vault: vault.clone(),
            floor: floor_watch.clone(),
            keyring: keyring.clone(),
            security: security.clone(),
            provider: provider.clone(),
            seal_status: seal_status.clone(),
            forward_status: forward_status.clone(),
        });
        let app = Arc::new(AppState {
            engine,
            protection: Protection::new(modules, status_of, refusal_json),
            database_monitor,
            keyring,
            vault,
            security,
            floor: floor_watch,
            backlog,
            provider,
            published_logs,
            seal_status,
            forward_status,
            row_examination,
            draining: AtomicBool::new(false),
            document,
        });
        Ok(Self {
            jobs: jobs::start(&app, writer, security_writer, sealer),
            app,
            dashboard,
            token_times,
        })
    }

    /// Starts to forward sealed audit records to this collector.
    pub fn forward(&mut self, collector: Collector) {
        let engine = &self.app.engine;
        let settings = &engine.settings.audit.forward;
        let forwarder = Forwarder::new(
            engine.database.clone(),
            engine.clock.clone(),
            collector,
            settings,
            self.app.forward_status.clone(),
        );
        jobs::forward(&mut self.jobs, settings, forwarder);
    }

    /// Starts to follow the primary, if the settings name several servers.
    pub fn follow(&mut self, primary: Primary) {
        jobs::follow(&mut self.jobs, primary);
    }

    /// Starts to reload the TLS files.
    pub fn reload(&mut self, tls: Option<Tls>) {
        jobs::reload(&mut self.jobs, tls);
    }

    /// The background jobs.
    pub fn jobs(&self) -> &Board {
        &self.app.engine.jobs
    }

    /// Records security events.
    pub fn security(&self) -> &SecurityLog {
        &self.app.security
    }

    /// The APIs and the dashboard.
    pub fn front(&self) -> Front {
        let (app, ready) = (&self.app, self.app.clone());
        let transit = Transit {
            engine: app.engine.clone(),
            protection: app.protection.behind(sealward_transit::status_of),
            keyring: app.keyring.clone(),
            vault: app.vault.clone(),
            security: app.security.clone(),
            provider: app.provider.clone(),
            is_ready: Box::new(move || ready.is_ready()),
            held: HeldRefusals::default(),
        };
        Front {
            api: Api::new(app.clone()),
            transit: TransitApi::new(transit),
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
        self.jobs.abort_all_but(&jobs::WRITERS).await;
        // The token responds within its deadline or never.
        let settings = &self.app.engine.settings;
        if !self.app.protection.finish(settings.hsm.deadline.0).await {
            tracing::error!("operations of disconnected clients timed out and are not recorded");
        }
        // After this deadline the requests of the records have failed.
        let patience = self.app.engine.settings.audit.deadline.0;
        if !self.jobs.finish(Job::AuditWriter, patience).await {
            tracing::error!("audit records were lost: they could not be committed before shutdown");
        }
        if !self.jobs.finish(Job::SecurityWriter, LAST_EVENTS).await {
            tracing::warn!("some refused management requests could not be recorded");
        }
        let last_use = self.app.engine.authenticator.last_use();
        if let Err(error) = last_use.flush(&self.app.engine.database).await {
            tracing::warn!(%error, "the last use of credentials could not be written");
        }
    }
}
