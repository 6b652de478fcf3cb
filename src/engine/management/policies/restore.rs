//! The restoration of deleted policies.

use super::{
    Policy, PolicyName, check_alg, check_number, check_services, is_taken, number_taken, store,
};
use crate::management::changes::StoredRequest;
use crate::management::check::checked;
use crate::management::{
    Action, Authorized, Error, Expected, ManagePolicies, ReadResources, ResourceType, services,
};
use crate::policy::{PolicyRequest, PolicyStatus};
use crate::resource::{Member, ResourceRequest};
use formats::problem::{Code, Problem, Problems};

/// A deleted policy.
pub async fn read_deleted(
    context: &Authorized<ReadResources>,
    name: &PolicyName,
) -> Result<Policy, Error> {
    one_of(store::deleted(context.pool.rows(), name).await?)
}

/// Restores a deleted policy with the changes of the request. It becomes inactive, and its envelopes can be
/// opened under it at once.
///
/// # Errors
/// There is none or it is not in the expected state, it or its destination does not allow the restoration, the
/// request is wrong or the number is taken, or the database refuses it.
pub async fn restore(
    context: &Authorized<ManagePolicies>,
    name: &PolicyName,
    expected: &Expected,
    request: ResourceRequest<PolicyRequest>,
) -> Result<Policy, Error> {
    let mut change = context.begin().await?;
    let named = store::lock_all(change.rows(), name).await?;
    if named.iter().any(|policy| policy.deleted_at.is_none()) {
        checked(request.problems, Some(()))?;
        return Err(Error::Conflict("the policy is not deleted".to_owned()));
    }
    let before = one_of(named)?;
    expected.check(before.revision)?;
    if !services::is_living(change.connection(), before.destination_service_id).await? {
        checked(request.problems, Some(()))?;
        let message = "the destination service of the policy is deleted";
        return Err(Error::Conflict(message.to_owned()));
    }
    change.propose_as(StoredRequest::restore(ResourceType::Policy, &request));
    let (mut problems, mut body) = (request.problems, request.body);
    check_status(&mut problems, &body);
    check_number(&mut problems, Some(&before), &body);
    check_alg(context.post_quantum, &mut problems, Some(&before), &body);
    check_services(change.connection(), &mut problems, Some(&before), &mut body).await?;
    let after = body.update(&before.clone().restored(), &mut problems);
    after.check_binding(&mut problems);
    let after = checked(problems, Some(after))?;
    let number = after.policy_number.clone();
    let saved = change.save(Action::Restore, before, after).await;
    saved.map_err(|error| if is_taken(&error) { number_taken(&number) } else { error })
}

/// The one policy of a name.
fn one_of(named: Vec<Policy>) -> Result<Policy, Error> {
    let mut named = named.into_iter();
    let first = named.next().ok_or(Error::Missing(ResourceType::Policy))?;
    let others: Vec<String> = named.map(|policy| policy.id.to_string()).collect();
    if others.is_empty() {
        return Ok(first);
    }
    let (number, id, others) = (&first.policy_number, first.id, others.join(", "));
    let message =
        format!("several deleted policies had the number {number}: name one of {id}, {others}");
    Err(Error::Conflict(message))
}

fn check_status(problems: &mut Problems, body: &PolicyRequest) {
    if body.status == Member::Given(PolicyStatus::Active) {
        let message = "must be inactive: a restored policy becomes active by another change";
        problems.note(Problem::new("status", Code::Conflict, message));
    }
}
