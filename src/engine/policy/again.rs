//! Decides again about an operation that was permitted: the answer of a token, and the turn of a large body,
//! can take longer than a change of a policy.

use std::sync::Arc;

use super::grounds::{Grounds, PermittingPolicy};
use super::permit::{PolicyPermit, authorize, to};
use super::policies::NotPermitted;
use super::rewrapping::both_halves;
use super::{Policies, Policy};
use crate::auth::Application;

impl Policies {
    /// Checks that nothing was frozen since an operation of `application` was permitted, and that the policies
    /// still permit it.
    ///
    /// # Errors
    /// Something is frozen, a policy was deleted, switched, changed or narrowed, or the database does not answer.
    pub(crate) async fn check_again(
        &self,
        application: &Application,
        grounds: Option<Grounds>,
    ) -> Result<(), NotPermitted> {
        let destinations = grounds.into_iter().flat_map(Grounds::destinations);
        self.check_frozen(application, destinations).await?;
        match grounds {
            None => {}
            Some(Grounds::Protecting(under)) => {
                let policy = self.as_before(under).await?;
                let _: PolicyPermit<to::Protect> = authorize(application)?.under(policy)?;
            }
            Some(Grounds::Opening { policy, sealed_under }) => {
                // An inactive policy opens too.
                let policy = self.unchanged(policy).await?;
                let sealed_under = self.sealed_under(&policy, sealed_under).await?;
                let permit: PolicyPermit<to::Unprotect> = authorize(application)?.under(policy)?;
                permit.check_opening(&sealed_under)?;
            }
            Some(Grounds::Rewrapping { from, to, sealed_under }) => {
                let from = self.unchanged(from).await?;
                let target = self.as_before(to).await?;
                let sealed_under = self.sealed_under(&from, sealed_under).await?;
                let (opening, _) = both_halves(application, from, target, &sealed_under)?;
                opening.check_opening(&sealed_under)?;
            }
        }
        Ok(())
    }

    /// The policy, if it does with a payload what it did before.
    async fn as_before(&self, before: PermittingPolicy) -> Result<Arc<Policy>, NotPermitted> {
        let policy = self.unchanged(before).await?;
        if policy.verdict() != before.verdict {
            return Err(NotPermitted::Switched);
        }
        Ok(policy)
    }

    /// The policy, if what decides is as before. Its state may be another one.
    async fn unchanged(&self, before: PermittingPolicy) -> Result<Arc<Policy>, NotPermitted> {
        let policy = self.living(before.id).await?.ok_or(NotPermitted::Deleted)?;
        let now = PermittingPolicy { verdict: before.verdict, ..PermittingPolicy::of(&policy) };
        if now != before {
            return Err(NotPermitted::Changed);
        }
        Ok(policy)
    }
}
