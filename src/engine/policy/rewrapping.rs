//! Permits for a rewrap: opening under one policy, sealing under the same or another.

use std::sync::Arc;

use super::envelope_policy::EnvelopePolicy;
use super::grounds::{Grounds, PermittingPolicy};
use super::opening::{OpeningPermit, policy_of};
use super::permit::{NotAllowed, PolicyPermit, authorize, to};
use super::policies::NotPermitted;
use super::{Policies, Policy};
use crate::auth::Application;
use crate::operation::Operation;
use formats::envelope::Envelope;
use formats::material::Algorithm;

/// Proof that a caller may open one envelope in order to seal its payload again.
///
/// Only `Policies::permit_rewrapping` makes one:
///
/// ```compile_fail,E0451
/// use sealward_engine::policy::{OpeningPermit, PolicyPermit, RewrapPermit, to};
///
/// fn permit(opening: OpeningPermit, sealing: PolicyPermit<to::Protect>) -> RewrapPermit {
///     RewrapPermit { opening, sealing }
/// }
/// ```
#[derive(Debug)]
pub struct RewrapPermit {
    opening: OpeningPermit,
    sealing: PolicyPermit<to::Protect>,
}

impl RewrapPermit {
    /// The policy that the request names for the envelope.
    pub fn source(&self) -> &Policy {
        self.opening.policy()
    }

    /// The policy of the new envelope.
    pub fn target(&self) -> &Policy {
        self.sealing.policy()
    }

    /// The policies that decided.
    pub(crate) fn grounds(&self) -> Grounds {
        let (from, to) = (PermittingPolicy::of(self.source()), PermittingPolicy::of(self.target()));
        Grounds::Rewrapping { from, to, sealed_under: policy_of(self.opening.envelope()) }
    }

    /// The permits to open the envelope and to seal its payload.
    pub fn into_parts(self) -> (OpeningPermit, PolicyPermit<to::Protect>) {
        (self.opening, self.sealing)
    }
}

impl Policies {
    /// Permits `application` to open `envelope` under the policy `from` and to seal its payload under
    /// `target`, for a key with the algorithm `key`.
    ///
    /// If both policies and the policy of the envelope are the same, `rewrap` is enough, and so are
    /// `unprotect` and `protect` together. Otherwise the caller needs `unprotect` under `from` and the
    /// policy of the envelope, and `protect` under `target`.
    pub(crate) async fn permit_rewrapping(
        &self,
        application: &Application,
        from: Arc<Policy>,
        target: Arc<Policy>,
        envelope: Envelope,
        key: Option<Algorithm>,
    ) -> Result<RewrapPermit, NotPermitted> {
        let sealed_under = self.sealed_under(&from, policy_of(&envelope)).await?;
        let (unprotect, protect) = both_halves(application, from, target, &sealed_under)?;
        let opening = unprotect.opening(&sealed_under, envelope)?;
        self.check_floor(protect.policy(), key).map_err(NotAllowed::from)?;
        self.check_destination(opening.policy()).await?;
        self.check_destination(protect.policy()).await?;
        Ok(RewrapPermit { opening, sealing: protect })
    }
}

/// The permits for both halves of a rewrap, without that of the policy `sealed_under` of the envelope.
pub(super) fn both_halves(
    application: &Application,
    from: Arc<Policy>,
    target: Arc<Policy>,
    sealed_under: &EnvelopePolicy,
) -> Result<(PolicyPermit<to::Unprotect>, PolicyPermit<to::Protect>), NotAllowed> {
    let is_sealed_under_it = match sealed_under {
        EnvelopePolicy::Policy(policy) => policy.id == from.id,
        EnvelopePolicy::Never => true,
        EnvelopePolicy::Lost => false,
    };
    let is_one_policy = from.id == target.id && is_sealed_under_it;
    let rewrap = if is_one_policy { may_rewrap(application, &from) } else { Err(None) };
    match rewrap {
        Ok(()) => Ok((
            PolicyPermit::of_rewrap(application, &from),
            PolicyPermit::of_rewrap(application, &target),
        )),
        Err(no_rewrap) => {
            let both = unprotect_and_protect(application, from, target);
            both.map_err(|not_allowed| no_rewrap.unwrap_or(not_allowed))
        }
    }
}

fn may_rewrap(application: &Application, policy: &Policy) -> Result<(), Option<NotAllowed>> {
    if !application.may(Operation::Rewrap) {
        return Err(Some(NotAllowed::ByApiKey(Operation::Rewrap)));
    }
    if !policy.allows(application.service_id(), Operation::Rewrap) {
        return Err(Some(NotAllowed::ByPolicy(Operation::Rewrap)));
    }
    Ok(())
}

fn unprotect_and_protect(
    application: &Application,
    from: Arc<Policy>,
    target: Arc<Policy>,
) -> Result<(PolicyPermit<to::Unprotect>, PolicyPermit<to::Protect>), NotAllowed> {
    Ok((authorize(application)?.under(from)?, authorize(application)?.under(target)?))
}
