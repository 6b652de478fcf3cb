//! The state that all pages share.

use std::ops::Deref;
use std::sync::Arc;

use engine::auth::Sessions;
use engine::auth::oidc::Provider;
use engine::keys::Vault;
use engine::ledger::SealStatus;
use engine::ledger::forward::ForwardStatus;
use engine::management::security::SecurityLog;
use engine::web::Resources;

/// Everything a page may use. Clones share it.
#[derive(Clone, Debug)]
pub struct Dashboard {
    parts: Arc<Parts>,
    pub(super) sessions: Arc<Sessions>,
}

/// The parts of a [`Dashboard`].
#[derive(Debug)]
pub struct Parts {
    /// What the dashboard shares with the API.
    pub resources: Arc<Resources>,
    /// Makes keys in the tokens.
    pub vault: Vault,
    /// Records security events.
    pub security: SecurityLog,
    /// The provider at which people sign in.
    pub provider: Option<Provider>,
    /// The state of the sealer.
    pub seal_status: SealStatus,
    /// The state of forwarding.
    pub forward_status: ForwardStatus,
}

impl Dashboard {
    /// Shares `parts` among pages.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let resources = &parts.resources;
        let sessions = Sessions::new(resources.database.clone(), &resources.settings.admin);
        Self {
            parts: Arc::new(parts),
            sessions: Arc::new(sessions),
        }
    }
}

impl Deref for Dashboard {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Deref for Parts {
    type Target = Resources;

    fn deref(&self) -> &Resources {
        &self.resources
    }
}
