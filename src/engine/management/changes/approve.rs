//! Approves changes. The last approval makes the change.

use std::sync::Arc;

use uuid::Uuid;

use super::apply::{TokenAccess, apply};
use super::authority::LastApproval;
use super::decide::{DecisionRequest, begin, comment, decision, save};
use super::independence::check_independent;
use super::proposal::{ChangeStatus, Proposal};
use super::{eligible, store};
use crate::ids::ChangeId;
use crate::management::{Action, Authorized, Change, Error, Event, ReadResources, ResourceType};
use crate::resource::ResourceRequest;

/// Approves a change. The last approval makes it, in the name of its proposer.
///
/// # Errors
/// There is none, the author may not approve it, it is decided, expired or stale, or the token or the
/// database fails.
pub async fn approve(
    context: &Authorized<ReadResources>,
    token: TokenAccess,
    id: ChangeId,
    request: ResourceRequest<DecisionRequest>,
) -> Result<Proposal, Error> {
    let comment = comment(request)?;
    let context = context.clone();
    // A separate task: if the client disconnects, the change is still completed and recorded.
    let approved = tokio::spawn(async move {
        let approved = carry_out(&context, &token, id, comment).await?;
        Ok(approved.shown_to(&context))
    });
    approved.await.map_err(|_| Error::BrokenOff)?
}

async fn carry_out(
    context: &Authorized<ReadResources>,
    token: &TokenAccess,
    id: ChangeId,
    comment: Option<String>,
) -> Result<Proposal, Error> {
    let (mut change, mut before) = begin(context, id).await?;
    let approval = decision(&mut change, &before, comment)?;
    before.check_pending()?;
    retain_valid(&mut change, &mut before).await?;
    let approver = context.actor.uuid();
    check_independent(change.rows(), &before, (&approval, approver)).await?;
    let given = i32::try_from(before.approvals.len()).unwrap_or(i32::MAX);
    if given.saturating_add(1) < before.required {
        let after = before.approved_by(approval, approver);
        return save(change, Action::Approve, before, after).await;
    }
    let call = store::call(change.rows(), id).await?;
    let call = call.ok_or(Error::Missing(ResourceType::Change))?;
    // The use case takes a connection of its own. An approval that kept this one could wait forever for
    // others that do the same. Of approvals at the same time, the first to commit makes the change.
    drop(change);
    let last = LastApproval {
        proposal: before.clone(),
        approval,
        roles: eligible::roles_of(&before),
        approver: context.actor.clone(),
    };
    match apply(context, token, Arc::new(last), &call).await {
        // A use case without effect does not mark its change as applied.
        Ok(()) => {
            let mut connection = context.pool.acquire().await?;
            let rows = context.pool.rows_on(&mut connection);
            match store::read(rows, context.clock.now(), id).await? {
                Some(after) if after.status == ChangeStatus::Applied => Ok(after),
                Some(_) | None => Err(Error::Conflict("it would have no effect".to_owned())),
            }
        }
        Err(error) if error.is_temporary() => Err(error),
        Err(error) => {
            close(context, before).await?;
            Err(Error::Conflict(format!("the change is stale: {error}")))
        }
    }
}

/// Marks a change as stale, because it cannot be made any more.
async fn close(context: &Authorized<ReadResources>, before: Proposal) -> Result<(), Error> {
    let (mut change, current) = begin(context, before.id).await?;
    // If the approver lost the role in the meantime, another person can still approve the change.
    decision(&mut change, &current, None)?;
    let (after, now) = (before.become_status(ChangeStatus::Stale), change.now());
    store::save(change.rows(), now, &before, &after, None).await?;
    let event = Event::changed(Action::Update, &before, &after);
    change.commit(event).await
}

/// Drops the approvals of people who lost the role, were locked since, or whose API key is no longer valid.
async fn retain_valid(change: &mut Change<'_>, proposal: &mut Proposal) -> Result<(), Error> {
    let (roles, now) = (eligible::roles_of(proposal), change.now());
    let ids = store::with_roles(change.rows(), &proposal.signatures(), &roles, now).await?;
    let given = std::mem::take(&mut proposal.approvals).into_iter();
    let by = std::mem::take(&mut proposal.approver_ids);
    let is_valid = |id: &Option<Uuid>| id.is_some_and(|id| ids.contains(&id));
    (proposal.approvals, proposal.approver_ids) =
        given.zip(by).filter(|(_, id)| is_valid(id)).unzip();
    Ok(())
}
