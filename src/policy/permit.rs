//! Permission as a thing one has to hold.

use std::sync::Arc;

use super::Policy;
use crate::auth::Application;
use crate::operation::Operation;

/// Proof that a caller's API key allows an operation.
#[derive(Clone, Debug)]
pub struct Permit {
    application: Application,
    operation: Operation,
}

/// Proof that a policy allows it too.
#[derive(Clone, Debug)]
pub struct PolicyPermit {
    permit: Permit,
    policy: Arc<Policy>,
}

/// The operation is not allowed to this caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// Its API key does not include it.
    #[error("the API key does not allow {0}")]
    ByApiKey(Operation),
    /// The policy does not include it, or not for this service.
    #[error("the policy does not allow {0} to this service")]
    ByPolicy(Operation),
}

/// Asks whether `application` may do `operation`.
///
/// What is done under a policy needs that policy's consent as well: [`Permit::under`].
///
/// # Errors
/// When its API key does not allow it.
pub fn authorize(application: &Application, operation: Operation) -> Result<Permit, NotAllowed> {
    if !application.may(operation) {
        return Err(NotAllowed::ByApiKey(operation));
    }
    Ok(Permit {
        application: application.clone(),
        operation,
    })
}

impl Permit {
    /// Whose permission this is.
    #[must_use]
    pub fn application(&self) -> &Application {
        &self.application
    }

    /// What is permitted.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Asks whether `policy` allows it too.
    ///
    /// # Errors
    /// When it does not, or not for this service.
    pub fn under(self, policy: Arc<Policy>) -> Result<PolicyPermit, NotAllowed> {
        if !policy.allows(self.application.service_id(), self.operation) {
            return Err(NotAllowed::ByPolicy(self.operation));
        }
        Ok(PolicyPermit {
            permit: self,
            policy,
        })
    }
}

impl PolicyPermit {
    /// Whose permission this is.
    #[must_use]
    pub fn application(&self) -> &Application {
        &self.permit.application
    }

    /// What is permitted.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.permit.operation
    }

    /// Under which policy.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::envelope::{Alg, Enc};
    use crate::ids::{PolicyId, ServiceId};
    use crate::operation::Operations;
    use crate::policy::{FailureMode, KeyOwnership, Status};
    use crate::revision::Revision;

    fn service(number: u128) -> ServiceId {
        ServiceId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn policy(services: Option<Vec<ServiceId>>, operations: &[Operation]) -> Arc<Policy> {
        Arc::new(Policy {
            id: PolicyId::from_uuid(uuid::Uuid::nil()),
            policy_number: "POL-000001".parse().unwrap(),
            name: String::new(),
            description: None,
            destination_service_id: service(9),
            key_ownership: KeyOwnership::ServiceManaged,
            alg: Alg::default(),
            enc: Enc::default(),
            status: Status::Active,
            failure_mode: FailureMode::Error,
            allowed_service_ids: services,
            allowed_operations: operations.iter().copied().collect(),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
            revision: Revision::FIRST,
        })
    }

    #[test]
    fn a_key_allows_what_it_lists() {
        let listed: Operations = [Operation::Sign, Operation::Verify].into_iter().collect();
        let application = Application::sample(service(1), Some(listed));
        for operation in Operation::ALL {
            let permitted = authorize(&application, operation).map(|permit| permit.operation());
            let expected = if listed.contain(operation) {
                Ok(operation)
            } else {
                Err(NotAllowed::ByApiKey(operation))
            };
            assert_eq!(permitted, expected);
        }
    }

    #[test]
    fn a_key_without_a_list_allows_everything() {
        let application = Application::sample(service(1), None);
        for operation in Operation::ALL {
            assert!(authorize(&application, operation).is_ok(), "{operation}");
        }
    }

    #[test]
    fn a_policy_allows_its_operations_to_its_services() {
        use Operation::{Protect, Unprotect};
        let under = |caller, policy: Arc<Policy>, operation| {
            authorize(&Application::sample(service(caller), None), operation)
                .unwrap()
                .under(policy)
                .is_ok()
        };
        assert!(under(1, policy(None, &[Protect, Unprotect]), Protect));
        assert!(!under(1, policy(None, &[Protect]), Unprotect));
        assert!(!under(1, policy(None, &[]), Protect));
        assert!(under(
            1,
            policy(Some(vec![service(1)]), &[Protect]),
            Protect
        ));
        assert!(!under(
            2,
            policy(Some(vec![service(1)]), &[Protect]),
            Protect
        ));
        assert!(!under(1, policy(Some(vec![]), &[Protect]), Protect));
    }
}
