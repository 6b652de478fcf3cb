//! The state that all handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use utoipa::openapi::OpenApi;

use super::database_monitor::DatabaseMonitor;
use engine::auth::oidc::Provider;
use engine::keys::{Keyring, Vault};
use engine::ledger::forward::ForwardStatus;
use engine::ledger::{PublishedLogs, SealStatus};
use engine::management::changes::Backlog;
use engine::management::floor::FloorWatch;
use engine::management::security::SecurityLog;
use engine::protection::Protection;
use engine::rows::ExaminationStatus;
use engine::web::Engine;

/// Everything a handler may use.
pub struct AppState {
    /// What the API shares with the dashboard.
    pub engine: Arc<Engine>,
    /// Runs the operations of applications.
    pub protection: Protection,
    /// The state of the database within the last second.
    pub database_monitor: DatabaseMonitor,
    /// Chooses keys.
    pub keyring: Arc<Keyring>,
    /// Makes keys in the tokens.
    pub vault: Vault,
    /// Records security events.
    pub security: SecurityLog,
    /// What the cryptographic floor stops.
    pub floor: FloorWatch,
    /// The changes that wait for approval.
    pub backlog: Backlog,
    /// The provider whose access tokens the management API accepts.
    pub provider: Option<Provider>,
    /// The published parts of the audit logs.
    pub published_logs: PublishedLogs,
    /// The state of the sealer.
    pub seal_status: SealStatus,
    /// The state of forwarding.
    pub forward_status: ForwardStatus,
    /// Whether all rows were examined lately.
    pub row_examination: ExaminationStatus,
    /// Set once the process shuts down.
    pub draining: AtomicBool,
    /// Makes the OpenAPI document of all routes.
    pub document: fn() -> OpenApi,
}

/// The state of the routers. Extractors of types of other crates need a type of this crate.
#[derive(Clone)]
pub(crate) struct App(pub(crate) Arc<AppState>);

impl AppState {
    /// Whether the instance accepts traffic: the database answers, its rows can be verified and are the latest,
    /// the background jobs that requests need run, and no shutdown has begun.
    pub fn is_ready(&self) -> bool {
        let answers = self.database_monitor.state().latency().is_some();
        let works =
            answers && self.engine.database.seals().are_reliable() && self.engine.jobs.is_ready();
        works && !self.draining.load(Ordering::Relaxed)
    }

    /// Reports the instance as not ready, so that load balancers send no more requests.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}
