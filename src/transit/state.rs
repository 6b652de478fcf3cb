//! The state that all handlers share.

use std::sync::Arc;

use crate::held::HeldRefusals;
use engine::auth::oidc::Provider;
use engine::keys::{Keyring, Vault};
use engine::management::security::SecurityLog;
use engine::protection::Protection;
use engine::web::Engine;

/// What this API uses of the service.
pub struct Transit {
    pub engine: Arc<Engine>,
    /// Runs the operations of applications.
    pub protection: Protection,
    pub keyring: Arc<Keyring>,
    /// Makes keys in the tokens.
    pub vault: Vault,
    pub security: SecurityLog,
    /// The provider whose access tokens administrators may send.
    pub provider: Option<Provider>,
    /// Whether the instance accepts traffic.
    pub is_ready: Box<dyn Fn() -> bool + Send + Sync>,
    /// The refusals that wait.
    pub held: HeldRefusals,
}
