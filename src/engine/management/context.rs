//! The context of a use case.

use super::{Actor, Claim};
use crate::catalog::Catalog;
use crate::db::Pool;
use crate::floor::Floor;
use crate::settings::Approvals;
use crate::web::Engine;
use formats::clock::{Clock, Entropy};

/// The arguments that all use cases share. Other crates cannot change which changes need approval:
///
/// ```compile_fail,E0451
/// use sealward_engine::management::Context;
/// use sealward_engine::settings::Approvals;
///
/// fn without_approvals(context: Context) -> Context {
///     Context { approvals: Approvals::default(), ..context }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) clock: Clock,
    /// The source of randomness for ids and API keys.
    pub(crate) entropy: Entropy,
    /// The caches, which a change invalidates.
    pub(crate) catalog: Catalog,
    /// The database.
    pub(crate) pool: Pool,
    /// The author of changes.
    pub(crate) actor: Actor,
    /// The changes that need approval.
    pub(crate) approvals: Approvals,
    /// The algorithms of keys that make something new.
    pub(crate) floor: Floor,
    /// Whether keys and policies can have algorithms that resist quantum computers.
    pub(crate) post_quantum: bool,
    /// Whether owners can sign in without an admin key.
    pub(crate) owners_sign_in: bool,
    /// The issuer of `admin.oidc`, whose subjects identify people; none without it.
    pub(crate) people_issuer: Option<String>,
    /// The claim of a request with an `Idempotency-Key`.
    pub(crate) claim: Option<Claim>,
}

impl Context {
    /// The context of a request of `actor`.
    pub fn of_request(engine: &Engine, actor: Actor, claim: Option<Claim>) -> Self {
        Self {
            clock: engine.clock.clone(),
            entropy: engine.entropy,
            catalog: engine.catalog.clone(),
            pool: engine.database.clone(),
            approvals: engine.settings.approvals.clone(),
            floor: engine.settings.crypto.floor(),
            post_quantum: engine.settings.envelopes.post_quantum,
            actor,
            owners_sign_in: engine.settings.admin.oidc.has_owners(),
            people_issuer: engine.settings.admin.oidc.issuer.clone(),
            claim,
        }
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The database.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The author of changes.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }
}
