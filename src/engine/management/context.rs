//! The context of a use case.

use super::{Actor, Claim};
use crate::catalog::Catalog;
use crate::db::Pool;
use crate::settings::Approvals;
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
    /// Whether keys and policies can have algorithms that resist quantum computers.
    pub post_quantum: bool,
    /// Whether owners can sign in without an admin key.
    pub owners_sign_in: bool,
    /// The issuer of `admin.oidc`, whose subjects identify people; none without it.
    pub people_issuer: Option<String>,
    /// The claim of a request with an `Idempotency-Key`.
    pub claim: Option<Claim>,
}
