//! The state that all pages share.

use std::sync::Arc;

use engine::auth::Sessions;
use engine::auth::oidc::Provider;
use engine::keys::{Keyring, Vault};
use engine::ledger::SealStatus;
use engine::ledger::forward::ForwardStatus;
use engine::management::floor::FloorWatch;
use engine::management::security::SecurityLog;
use engine::web::Engine;

/// Everything a page may use.
pub struct Dashboard {
    /// What the dashboard shares with the API.
    pub engine: Arc<Engine>,
    /// The sessions of the people who are signed in.
    pub sessions: Arc<Sessions>,
    /// Makes keys in the tokens.
    pub vault: Vault,
    /// What the cryptographic floor stops.
    pub floor: FloorWatch,
    /// The keys in use.
    pub keyring: Arc<Keyring>,
    /// Records security events.
    pub security: SecurityLog,
    /// The provider at which people sign in.
    pub provider: Option<Provider>,
    /// The state of the sealer.
    pub seal_status: SealStatus,
    /// The state of forwarding.
    pub forward_status: ForwardStatus,
}

/// The [`Dashboard`] that all pages share.
pub type SharedDashboard = Arc<Dashboard>;
