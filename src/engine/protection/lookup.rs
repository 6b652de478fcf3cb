//! What an application can find out about its policies. Look-ups have no audit record.

use std::sync::Arc;

use super::{Protection, Refusal};
use crate::auth::{Application, Frozen};
use crate::keys::{NoKey, PublishedJwk};
use crate::policy::{NotAllowed, NotPermitted, Policy, Unresolved, may_protect};

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

    /// A policy under which `application` can protect.
    pub async fn policy_to_protect(
        &self,
        application: &Application,
        number: &str,
    ) -> Result<PolicyToProtect, Refusal> {
        let policy = self.dependencies.policies.resolve(application, Some(number)).await?;
        // The answer about a freeze is only for callers who may use the policy.
        may_protect(application, &policy)?;
        let key = self.dependencies.keyring.receiving_algorithm(&policy).await?;
        let permitted = self.dependencies.policies.permit(application, policy.clone(), key);
        let permit = match permitted.await {
            Ok(permit) => permit,
            Err(NotPermitted::NotAllowed(NotAllowed::Frozen(frozen))) => {
                // The answer shows a frozen destination also to a frozen caller.
                let destination = self.dependencies.policies.check_destination(&policy).await;
                let frozen = match destination {
                    Err(NotPermitted::NotAllowed(NotAllowed::Frozen(destination))) => destination,
                    Ok(()) | Err(_) => frozen,
                };
                return Ok(PolicyToProtect { policy, frozen: Some(frozen), key: None });
            }
            Err(NotPermitted::LostDestination) => {
                return Ok(PolicyToProtect { policy, frozen: None, key: None });
            }
            Err(refused) => return Err(refused.into()),
        };
        let key = match self.dependencies.keyring.to_protect(&permit).await {
            Ok(key) => key.jwk(),
            Err(NoKey::Unreadable(unreadable)) => return Err(unreadable.into()),
            Err(
                NoKey::NotFound
                | NoKey::HeldByDestination(_)
                | NoKey::Unfit(_)
                | NoKey::NotAllowed(..)
                | NoKey::BelowFloor(..)
                | NoKey::Expired(_),
            ) => None,
        };
        Ok(PolicyToProtect { policy, frozen: None, key })
    }
}

/// A policy under which an application can protect.
#[derive(Debug)]
pub struct PolicyToProtect {
    pub policy: Arc<Policy>,
    /// What is frozen, so that it protects nothing now.
    pub frozen: Option<Frozen>,
    /// The key of new envelopes, if the destination has one for them.
    pub key: Option<PublishedJwk>,
}
