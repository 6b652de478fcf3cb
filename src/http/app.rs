//! What the handlers stand on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::PgPool;

use super::runtime::health::Pulse;
use crate::audit::Recorder;
use crate::auth::Authenticator;
use crate::catalog::Catalog;
use crate::clock::{Clock, Entropy};
use crate::keys::{Keyring, Vault};
use crate::meter::Meter;
use crate::protection::Protection;
use crate::ratelimit::Limiter;
use crate::settings::Settings;

/// Everything a handler may use, shared by all of them.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
#[derive(Debug)]
pub struct Parts {
    /// Tells the time.
    pub clock: Clock,
    /// Gives randomness.
    pub entropy: Entropy,
    /// What the operator decided.
    pub settings: Settings,
    /// The database, for administration and for asking whether it is there.
    pub database: PgPool,
    /// Knows what of the database is cached here.
    pub catalog: Catalog,
    /// Knows the callers.
    pub authenticator: Arc<Authenticator>,
    /// Knows how much each may still ask.
    pub limiter: Arc<Limiter>,
    /// Does what applications ask for.
    pub protection: Protection,
    /// Keeps the trail.
    pub recorder: Recorder,
    /// The tokens, for asking how they are.
    pub token: hsm::Token,
    /// How the database has been in the last second.
    pub pulse: Pulse,
    /// Knows which key does what.
    pub keyring: Arc<Keyring>,
    /// Makes keys in the tokens.
    pub vault: Vault,
    /// Counts requests.
    pub meter: Arc<Meter>,
    /// Set once the process has begun to end.
    pub draining: AtomicBool,
}

impl App {
    /// Shares `parts` among handlers.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// From here on the service tells load balancers to send nothing more.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
