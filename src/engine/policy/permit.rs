//! Permits: proof that a caller may do an operation. Nothing else makes one.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Policy;
use crate::auth::{Application, Frozen};
use crate::floor::Breach;
use crate::operation::Operation;

/// The operations as types, so that a permit for one operation does not pass for another.
pub mod to {
    use super::Permittable;
    use crate::operation::Operation;

    macro_rules! operations {
        ($($operation:ident)*) => {$(
            #[doc = concat!("[`Operation::", stringify!($operation), "`].")]
            #[derive(Clone, Copy, Debug)]
            pub enum $operation {}

            impl Permittable for $operation {
                const OPERATION: Operation = Operation::$operation;
            }
        )*};
    }

    operations! { Protect Unprotect Rewrap Encrypt Decrypt Sign Verify Hash }
}

/// An operation as a type.
pub trait Permittable {
    /// The operation as a value.
    const OPERATION: Operation;
}

/// Proof that the caller's API key allows the operation `O`, and that the caller is not frozen.
#[derive(Clone, Debug)]
pub struct Permit<O> {
    application: Application,
    operation: PhantomData<O>,
}

/// Proof that a policy allows the operation `O` too. Outside this module, its destination is not frozen.
///
/// ```compile_fail,E0451
/// use std::sync::Arc;
/// use sealward_engine::policy::{Permit, Policy, PolicyPermit, to};
///
/// fn under(permit: Permit<to::Protect>, policy: Arc<Policy>) -> PolicyPermit<to::Protect> {
///     PolicyPermit { permit, policy }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct PolicyPermit<O> {
    permit: Permit<O>,
    policy: Arc<Policy>,
}

/// The caller may not do this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// The API key does not include it.
    #[error("the API key does not allow {0}")]
    ByApiKey(Operation),
    /// The policy does not include it, or not for this service.
    #[error("the policy does not allow {0} to this service")]
    ByPolicy(Operation),
    /// The policy under which the envelope was sealed does not include it, or not for this service.
    #[error("the policy of the envelope does not allow {0} to this service")]
    ByPolicyOfEnvelope(Operation),
    /// The policy requires that an envelope names a policy that is known here.
    #[error("the policy opens only envelopes that name a policy of this service")]
    Unbound,
    /// An algorithm that would make something new is below the floor.
    #[error(transparent)]
    ByFloor(#[from] Breach),
    /// Something is frozen.
    #[error(transparent)]
    Frozen(#[from] Frozen),
}

/// Permits `application` the operation `O` with its own key. An operation under a policy needs a
/// [`PolicyPermit`].
pub fn authorize<O: Permittable>(application: &Application) -> Result<Permit<O>, NotAllowed> {
    may_by_api_key(application, O::OPERATION)?;
    if let Some(frozen) = application.frozen() {
        return Err(frozen.into());
    }
    Ok(Permit { application: application.clone(), operation: PhantomData })
}

/// Whether `application` may protect under `policy`, frozen or not.
pub(crate) fn may_protect(application: &Application, policy: &Policy) -> Result<(), NotAllowed> {
    may_by_api_key(application, Operation::Protect)?;
    may_by_policy(application, policy, Operation::Protect)
}

fn may_by_api_key(application: &Application, operation: Operation) -> Result<(), NotAllowed> {
    if application.may(operation) { Ok(()) } else { Err(NotAllowed::ByApiKey(operation)) }
}

fn may_by_policy(
    application: &Application,
    policy: &Policy,
    operation: Operation,
) -> Result<(), NotAllowed> {
    let is_allowed = policy.allows(application.service_id(), operation);
    if is_allowed { Ok(()) } else { Err(NotAllowed::ByPolicy(operation)) }
}

impl<O: Permittable> Permit<O> {
    /// The caller.
    pub fn application(&self) -> &Application {
        &self.application
    }

    /// Adds the permission of `policy`, whose destination may be frozen.
    pub(super) fn under(self, policy: Arc<Policy>) -> Result<PolicyPermit<O>, NotAllowed> {
        may_by_policy(&self.application, &policy, O::OPERATION)?;
        Ok(PolicyPermit { permit: self, policy })
    }
}

impl<O: Permittable> PolicyPermit<O> {
    /// The permit of an operation that is part of a permitted rewrap under `policy`.
    pub(super) fn of_rewrap(application: &Application, policy: &Arc<Policy>) -> Self {
        let permit = Permit { application: application.clone(), operation: PhantomData };
        Self { permit, policy: Arc::clone(policy) }
    }

    /// The caller.
    pub fn application(&self) -> &Application {
        &self.permit.application
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(super) fn shared_policy(&self) -> &Arc<Policy> {
        &self.policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PolicyId, ServiceId};
    use crate::operation::Operations;
    use crate::policy::{AllowedServices, PolicyRequest};
    use crate::resource::{Member, Name};
    use formats::clock::Timestamp;
    use formats::problem::Problems;

    fn service(number: u128) -> ServiceId {
        ServiceId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn policy(services: AllowedServices, operations: &[Operation]) -> Arc<Policy> {
        let request = PolicyRequest {
            policy_number: Member::Given("POL-000001".parse().unwrap()),
            name: Member::Given(Name::default()),
            destination_service_id: Member::Given(service(9)),
            allowed_service_ids: Member::Given(services),
            allowed_operations: Member::Given(operations.iter().copied().collect()),
            ..PolicyRequest::default()
        };
        let id = PolicyId::from_uuid(uuid::Uuid::nil());
        let policy = request.create(id, Timestamp::from_millis(0), &mut Problems::default());
        Arc::new(policy.unwrap())
    }

    /// For each operation, whether `application` may do it.
    fn answers(application: &Application) -> [(Operation, Result<(), NotAllowed>); 8] {
        fn one<O: Permittable>(caller: &Application) -> (Operation, Result<(), NotAllowed>) {
            (O::OPERATION, authorize::<O>(caller).map(drop))
        }
        [
            one::<to::Protect>(application),
            one::<to::Unprotect>(application),
            one::<to::Rewrap>(application),
            one::<to::Encrypt>(application),
            one::<to::Decrypt>(application),
            one::<to::Sign>(application),
            one::<to::Verify>(application),
            one::<to::Hash>(application),
        ]
    }

    #[test]
    fn an_api_key_allows_the_operations_that_it_lists() {
        let listed: Operations = [Operation::Sign, Operation::Verify].into_iter().collect();
        let answers = answers(&Application::sample(service(1), Some(listed)));
        assert_eq!(answers.map(|(operation, _)| operation), Operation::ALL);
        for (operation, permitted) in answers {
            let expected = if listed.contain(operation) {
                Ok(())
            } else {
                Err(NotAllowed::ByApiKey(operation))
            };
            assert_eq!(permitted, expected);
        }
    }

    #[test]
    fn an_api_key_without_a_list_allows_every_operation() {
        for (operation, permitted) in answers(&Application::sample(service(1), None)) {
            assert!(permitted.is_ok(), "{operation}");
        }
    }

    #[test]
    fn a_policy_is_limited_to_its_operations_and_services() {
        use AllowedServices::{Any, Only};
        use Operation::{Protect, Unprotect};
        fn under<O: Permittable>(caller: u128, policy: Arc<Policy>) -> bool {
            let permit = authorize::<O>(&Application::sample(service(caller), None)).unwrap();
            permit.under(policy).is_ok()
        }
        let both = policy(Any, &[Protect, Unprotect]);
        assert!(under::<to::Protect>(1, both));
        assert!(!under::<to::Unprotect>(1, policy(Any, &[Protect])));
        assert!(!under::<to::Protect>(1, policy(Any, &[])));
        let to_one = policy(Only(vec![service(1)]), &[Protect]);
        assert!(under::<to::Protect>(1, to_one.clone()));
        assert!(!under::<to::Protect>(2, to_one));
        assert!(!under::<to::Protect>(1, policy(Only(vec![]), &[Protect])));
    }
}
