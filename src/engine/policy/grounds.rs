//! The policies that permitted an operation.

use super::permit::{PolicyPermit, to};
use super::{KeyOwnership, Policy, Verdict};
use crate::ids::{PolicyId, ServiceId};

/// The policies that permitted an operation, from which it is decided again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grounds {
    Protecting(PermittingPolicy),
    Opening {
        policy: PermittingPolicy,
        /// The policy in the envelope.
        sealed_under: Option<PolicyId>,
    },
    Rewrapping {
        from: PermittingPolicy,
        to: PermittingPolicy,
        /// The policy in the envelope.
        sealed_under: Option<PolicyId>,
    },
}

/// What decides of a policy, as it was when it permitted the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PermittingPolicy {
    pub(super) id: PolicyId,
    pub(super) destination: ServiceId,
    pub(super) verdict: Verdict,
    pub(super) key_ownership: KeyOwnership,
    pub(super) context_required: bool,
}

impl PermittingPolicy {
    pub(super) fn of(policy: &Policy) -> Self {
        Self {
            id: policy.id,
            destination: policy.destination_service_id,
            verdict: policy.verdict(),
            key_ownership: policy.key_ownership,
            context_required: policy.context_required,
        }
    }
}

impl Grounds {
    /// The services whose keys are used.
    pub(super) fn destinations(self) -> impl Iterator<Item = ServiceId> {
        let (first, second) = match self {
            Self::Protecting(under) | Self::Opening { policy: under, .. } => (under, None),
            Self::Rewrapping { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(first).chain(second).map(|under| under.destination)
    }
}

impl PolicyPermit<to::Protect> {
    /// The policy that decided.
    pub(crate) fn grounds(&self) -> Grounds {
        Grounds::Protecting(PermittingPolicy::of(self.policy()))
    }
}
