//! What the rows of credentials are read with.

/// The number of the policy that a credential is bound to.
pub(super) const POLICY_NUMBER: &str = "(SELECT bound.policy_number FROM policies bound
       WHERE bound.id = policy_id) AS policy_number";
