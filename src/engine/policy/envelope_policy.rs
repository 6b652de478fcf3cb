//! What is known about the policy of an envelope.

use std::sync::Arc;

use super::Policy;

/// What is known about a policy with some identifier.
#[derive(Clone, Debug)]
pub(super) enum EnvelopePolicy {
    /// The policy, which may be deleted.
    Policy(Arc<Policy>),
    /// There was one, and its row is missing or invalid.
    Lost,
    /// There never was one.
    Never,
}
