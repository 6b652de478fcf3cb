//! The context of a use case.

use super::{Actor, Claim};
use crate::catalog::Catalog;
use crate::db::Pool;
use crate::floor::Floor;
use crate::settings::Approvals;
use crate::web::Engine;
use formats::clock::{Clock, Entropy};

/// The arguments that all use cases share.
#[derive(Clone, Debug)]
pub struct Context {
    pub clock: Clock,
    /// The source of randomness for ids and API keys.
    pub entropy: Entropy,
    /// The caches, which a change invalidates.
    pub catalog: Catalog,
    /// The database.
    pub pool: Pool,
    /// The author of changes.
    pub actor: Actor,
    /// The changes that need approval.
    pub approvals: Approvals,
    /// The algorithms of keys that make something new.
    pub floor: Floor,
    /// Whether keys and policies can have algorithms that resist quantum computers.
    pub post_quantum: bool,
    /// Whether owners can sign in without an admin key.
    pub owners_sign_in: bool,
    /// The issuer of `admin.oidc`, whose subjects identify people; none without it.
    pub people_issuer: Option<String>,
    /// The claim of a request with an `Idempotency-Key`.
    pub claim: Option<Claim>,
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
}
