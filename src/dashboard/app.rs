//! What the pages stand on.

use std::sync::Arc;

use sqlx::PgPool;

use crate::audit::Recorder;
use crate::auth::Authenticator;
use crate::catalog::Catalog;
use crate::clock::{Clock, Entropy};
use crate::keys::Vault;
use crate::meter::Meter;
use crate::ratelimit::Limiter;
use crate::settings::Settings;

/// Everything a page may use, shared by all of them.
#[derive(Clone, Debug)]
pub struct Dashboard(Arc<Parts>);

/// The parts of a [`Dashboard`].
#[derive(Debug)]
pub struct Parts {
    /// Tells the time.
    pub clock: Clock,
    /// Gives randomness.
    pub entropy: Entropy,
    /// What the operator decided.
    pub settings: Settings,
    /// Where everything is kept.
    pub database: PgPool,
    /// Is told of changes.
    pub catalog: Catalog,
    /// Knows the callers, the same as the API's.
    pub authenticator: Arc<Authenticator>,
    /// Knows how much each may still ask, the same as the API's.
    pub limiter: Arc<Limiter>,
    /// Keeps the trail.
    pub recorder: Recorder,
    /// The tokens, for asking how they are.
    pub token: hsm::Token,
    /// Makes keys in the tokens.
    pub vault: Vault,
    /// Counts requests, together with the API's.
    pub meter: Arc<Meter>,
}

impl Dashboard {
    /// Shares `parts` among pages.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl std::ops::Deref for Dashboard {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
