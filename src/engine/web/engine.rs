//! The parts of the service that handlers of the API and pages of the dashboard both use.

use std::sync::Arc;

use crate::audit::Recorder;
use crate::auth::{Authenticator, Caller};
use crate::body_memory::{BodyMemory, CallerMemory};
use crate::catalog::Catalog;
use crate::db::Pool;
use crate::jobs::Board;
use crate::meter::Meter;
use crate::ratelimit::Limiter;
use crate::request_tag::RequestTag;
use crate::settings::Settings;
use formats::clock::{Clock, Entropy};

/// What the API and the dashboard share to handle requests.
pub struct Engine {
    /// The time.
    pub clock: Clock,
    /// Randomness.
    pub entropy: Entropy,
    /// The operator's settings.
    pub settings: Settings,
    /// The connection pool for administration and for health checks.
    pub database: Pool,
    /// The caches and their invalidation.
    pub catalog: Catalog,
    /// Identifies callers.
    pub authenticator: Arc<Authenticator>,
    /// Enforces rate limits.
    pub limiter: Arc<Limiter>,
    /// Writes the audit log.
    pub recorder: Recorder,
    /// The tokens, for their status.
    pub token: hsm::Token,
    /// The background jobs of this instance.
    pub jobs: Board,
    /// Counts requests.
    pub meter: Arc<Meter>,
    /// Bounds the memory of request bodies.
    pub body_memory: BodyMemory,
}

impl Engine {
    /// The memory for the bodies of a caller. All credentials of a service share it.
    pub(crate) fn memory_of(&self, caller: &Caller) -> CallerMemory<'_> {
        let service = caller.service_id();
        let owner = service.map_or_else(|| caller.credential_id().uuid(), |service| service.uuid());
        self.body_memory.of(owner)
    }

    /// A generated id for a request.
    pub fn new_request_tag(&self) -> RequestTag {
        RequestTag::new(&self.clock, &self.entropy)
    }
}
