//! What an application can find out about its policies. Look-ups have no audit record.

use std::sync::Arc;

use super::{Protection, Refusal};
use crate::auth::Application;
use crate::keys::{NoKey, PublishedJwk};
use crate::policy::{Policy, PolicyPermit, Unresolved, authorize, to};

impl Protection {
    /// The policy that is bound to the API key of `application`, if it exists.
    pub async fn bound_policy(
        &self,
        application: &Application,
    ) -> Result<Option<Arc<Policy>>, Refusal> {
        match self.dependencies.policies.resolve(application, None).await {
            Ok(policy) => Ok(Some(policy)),
            Err(Unresolved::NotNamed | Unresolved::NotFound) => Ok(None),
            Err(Unresolved::Unreadable(unreadable)) => Err(unreadable.into()),
        }
    }

    /// A policy under which `application` can protect, and the key of new envelopes.
    pub async fn policy_to_protect(
        &self,
        application: &Application,
        number: &str,
    ) -> Result<(Arc<Policy>, Option<PublishedJwk>), Refusal> {
        let policy = self.dependencies.policies.resolve(application, Some(number)).await?;
        let permit: PolicyPermit<to::Protect> = authorize(application)?.under(policy.clone())?;
        let key = match self.dependencies.keyring.to_protect(&permit).await {
            Ok(key) => key.jwk(),
            Err(NoKey::Unreadable(unreadable)) => return Err(unreadable.into()),
            Err(
                NoKey::NotFound
                | NoKey::HeldByDestination(_)
                | NoKey::Unfit(_)
                | NoKey::NotAllowed(..)
                | NoKey::Expired(_),
            ) => None,
        };
        Ok((policy, key))
    }
}
