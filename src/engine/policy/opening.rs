//! Permits for opening an envelope: two policies decide.

use std::sync::Arc;

use super::envelope_policy::EnvelopePolicy;
use super::grounds::{Grounds, PermittingPolicy};
use super::permit::{NotAllowed, Permittable, PolicyPermit, authorize, to};
use super::policies::NotPermitted;
use super::{Policies, Policy};
use crate::auth::Application;
use crate::catalog::Unreadable;
use crate::ids::PolicyId;
use formats::envelope::Envelope;

/// Proof that a caller may open one envelope. The policy that the request names allows it, and so does
/// the policy under which the envelope was sealed, if it is known here.
///
/// Only `Policies::permit_opening` makes one:
///
/// ```compile_fail,E0451
/// use formats::envelope::Envelope;
/// use sealward_engine::policy::{OpeningPermit, PolicyPermit, to};
///
/// fn permit(permit: PolicyPermit<to::Unprotect>, envelope: Envelope) -> OpeningPermit {
///     OpeningPermit { permit, envelope }
/// }
/// ```
#[derive(Debug)]
pub struct OpeningPermit {
    permit: PolicyPermit<to::Unprotect>,
    envelope: Envelope,
}

impl OpeningPermit {
    /// The policy that the request names. It chooses the key.
    pub fn policy(&self) -> &Policy {
        self.permit.policy()
    }

    /// The policies that decided.
    pub(crate) fn grounds(&self) -> Grounds {
        let policy = PermittingPolicy::of(self.policy());
        Grounds::Opening { policy, sealed_under: policy_of(&self.envelope) }
    }

    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The envelope, to be opened.
    pub(crate) fn into_envelope(self) -> Envelope {
        self.envelope
    }
}

impl Policies {
    /// Permits `application` to open `envelope` under `policy`, with the permission of the policy in the
    /// `pol` of the envelope. A deleted policy goes on deciding by its last state, and one whose row is lost
    /// refuses. A policy that was never known here decides nothing.
    ///
    /// # Errors
    /// The API key or one of the policies does not allow it, there is no policy of the envelope and `policy`
    /// requires one, something is frozen, or the database does not answer.
    pub(crate) async fn permit_opening(
        &self,
        application: &Application,
        policy: Arc<Policy>,
        envelope: Envelope,
    ) -> Result<OpeningPermit, NotPermitted> {
        let permit: PolicyPermit<to::Unprotect> = authorize(application)?.under(policy)?;
        let sealed_under = self.sealed_under(permit.shared_policy(), policy_of(&envelope)).await?;
        let permit = permit.opening(&sealed_under, envelope)?;
        self.check_destination(permit.policy()).await?;
        Ok(permit)
    }

    /// The policy `id` of an envelope, if it is known here. `named` is the policy that the request names.
    pub(super) async fn sealed_under(
        &self,
        named: &Arc<Policy>,
        id: Option<PolicyId>,
    ) -> Result<EnvelopePolicy, Unreadable> {
        match id {
            Some(id) if id == named.id => Ok(EnvelopePolicy::Policy(Arc::clone(named))),
            Some(id) => self.known(id).await,
            None => Ok(EnvelopePolicy::Never),
        }
    }
}

/// The policy in the `pol` of `envelope`.
pub(super) fn policy_of(envelope: &Envelope) -> Option<PolicyId> {
    envelope.pol().and_then(|pol| pol.parse().ok())
}

impl PolicyPermit<to::Unprotect> {
    /// Adds the permission of the policy `sealed_under`, which is that of `envelope`.
    pub(super) fn opening(
        self,
        sealed_under: &EnvelopePolicy,
        envelope: Envelope,
    ) -> Result<OpeningPermit, NotAllowed> {
        self.check_opening(sealed_under)?;
        Ok(OpeningPermit { permit: self, envelope })
    }

    /// Checks that the policy `sealed_under` of an envelope permits to open it too.
    pub(super) fn check_opening(&self, sealed_under: &EnvelopePolicy) -> Result<(), NotAllowed> {
        let operation = to::Unprotect::OPERATION;
        let service = self.application().service_id();
        match sealed_under {
            // The permit already has the permission of the policy that it names.
            EnvelopePolicy::Policy(policy) if policy.id == self.policy().id => Ok(()),
            EnvelopePolicy::Policy(policy) if policy.allows(service, operation) => Ok(()),
            // Nobody knows any more what it allowed.
            EnvelopePolicy::Policy(_) | EnvelopePolicy::Lost => {
                Err(NotAllowed::ByPolicyOfEnvelope(operation))
            }
            EnvelopePolicy::Never if self.policy().require_binding => Err(NotAllowed::Unbound),
            EnvelopePolicy::Never => Ok(()),
        }
    }
}
