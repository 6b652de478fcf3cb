//! Approves, rejects and withdraws changes.

use std::sync::Arc;

use super::apply::{Token, apply};
use super::authority::LastApproval;
use super::proposal::{Approval, ChangeStatus, Proposal};
use super::{eligible, store};
use uuid::Uuid;

use crate::ids::ChangeId;
use crate::management::check::checked;
use crate::management::{Action, Authorized, Change, Error, Event, Missing, ReadResources};
use crate::request;
use crate::resource::{Description, ResourceRequest};

request! {
    /// A decision about a change.
    pub struct DecisionRequest: Decision {
        /// The reason, for other people.
        "Comment" comment: Option<Description> = None;
    }
}

/// Approves a change. The last approval makes it, in the name of its proposer.
///
/// # Errors
/// There is none, the author may not approve it, it is decided, expired or stale, or the token or the
/// database fails.
pub async fn approve(
    context: &Authorized<ReadResources>,
    token: Token,
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
    token: &Token,
    id: ChangeId,
    comment: Option<String>,
) -> Result<Proposal, Error> {
    let (mut change, mut before) = begin(context, id).await?;
    let approval = decision(&mut change, &before, comment)?;
    before.check_pending()?;
    let is_again = |earlier: &Approval| earlier.person == approval.person;
    if before.approvals.iter().any(is_again) {
        return Err(Error::NotAnApprover(
            "you have approved the change: another person must approve it too",
        ));
    }
    retain_valid(&mut change, &mut before).await?;
    let approver = context.actor.uuid();
    let given = i32::try_from(before.approvals.len()).unwrap_or(i32::MAX);
    if given.saturating_add(1) < before.required {
        let after = before.approved_by(approval, approver);
        return save(change, Action::Approve, before, after).await;
    }
    let last = LastApproval {
        proposal: before.clone(),
        approval,
        approver: context.actor.clone(),
    };
    let call = store::call(change.connection(), id).await?;
    let outcome = match apply(context, token, Arc::new(last), &call).await {
        // A use case without effect does not mark its change as applied.
        Ok(()) => match store::read(&context.pool, change.now(), id).await? {
            Some(after) if after.status == ChangeStatus::Applied => return Ok(after),
            Some(_) | None => Error::Conflict("it would have no effect".to_owned()),
        },
        Err(error) if error.is_temporary() => return Err(error),
        Err(error) => error,
    };
    let after = before.become_status(ChangeStatus::Stale);
    // Another person may have decided it in the meantime: then that decision stands.
    if store::save(change.connection(), &before, &after, None).await? {
        let event = Event::changed(Action::Update, &before, &after);
        change.commit(event).await?;
    }
    Err(Error::Conflict(format!("the change is stale: {outcome}")))
}

/// Rejects a change.
///
/// # Errors
/// There is none, the author may not reject it, it is decided, expired or stale, or the database fails.
pub async fn reject(
    context: &Authorized<ReadResources>,
    id: ChangeId,
    request: ResourceRequest<DecisionRequest>,
) -> Result<Proposal, Error> {
    let comment = comment(request)?;
    let (mut change, before) = begin(context, id).await?;
    let rejection = decision(&mut change, &before, comment)?;
    before.check_pending()?;
    let mut after = before.become_status(ChangeStatus::Rejected);
    after.rejection = Some(rejection);
    let rejected = save(change, Action::Reject, before, after).await?;
    Ok(rejected.shown_to(context))
}

/// Withdraws a change, which only its proposer can do.
///
/// # Errors
/// There is none, the author did not propose it, it is decided, expired or stale, or the database fails.
pub async fn withdraw(context: &Authorized<ReadResources>, id: ChangeId) -> Result<(), Error> {
    let (change, before) = begin(context, id).await?;
    let proposer = &before.proposed_by;
    let is_same_key =
        proposer.api_key_id.is_some() && proposer.api_key_id == context.actor.api_key_id;
    let is_same_person = proposer.person.is_some() && proposer.person.as_deref() == change.person();
    if !is_same_key && !is_same_person {
        return Err(Error::NotAnApprover(
            "only the proposer can withdraw the change",
        ));
    }
    before.check_pending()?;
    let after = before.become_status(ChangeStatus::Withdrawn);
    save(change, Action::Withdraw, before, after).await?;
    Ok(())
}

/// Begins a decision. Other decisions about the same change wait for it.
async fn begin(
    context: &Authorized<ReadResources>,
    id: ChangeId,
) -> Result<(Change<'_>, Proposal), Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    store::lock(change.connection(), id).await?;
    let found = store::read(change.connection(), now, id).await?;
    Ok((change, found.ok_or(Error::Missing(Missing::Change))?))
}

/// The decision of the author, if the author may decide.
fn decision(
    change: &mut Change<'_>,
    proposal: &Proposal,
    comment: Option<String>,
) -> Result<Approval, Error> {
    for kind in &proposal.action {
        change.require_one_of(eligible::roles(*kind))?;
    }
    let Some(person) = change.person() else {
        return Err(Error::NotAnApprover(
            "only a credential with a person can decide about changes",
        ));
    };
    if proposal.proposed_by.person.as_deref() == Some(person) {
        return Err(Error::NotAnApprover(
            "another person than the proposer must decide about the change",
        ));
    }
    Ok(Approval {
        person: person.to_owned(),
        at: change.now(),
        comment,
    })
}

/// Drops the approvals of people who lost the role or whose API key is no longer valid.
async fn retain_valid(change: &mut Change<'_>, proposal: &mut Proposal) -> Result<(), Error> {
    let now = change.now();
    let mut ids: Vec<_> = proposal.approver_ids.iter().flatten().copied().collect();
    for kind in &proposal.action {
        let roles = eligible::roles(*kind);
        ids = store::with_role(change.connection(), &ids, roles, now).await?;
    }
    let given = std::mem::take(&mut proposal.approvals).into_iter();
    let by = std::mem::take(&mut proposal.approver_ids);
    let is_valid = |id: &Option<Uuid>| id.is_some_and(|id| ids.contains(&id));
    (proposal.approvals, proposal.approver_ids) =
        given.zip(by).filter(|(_, id)| is_valid(id)).unzip();
    Ok(())
}

async fn save(
    mut change: Change<'_>,
    action: Action,
    before: Proposal,
    after: Proposal,
) -> Result<Proposal, Error> {
    if !store::save(change.connection(), &before, &after, None).await? {
        return Err(Error::Conflict(
            "the change was decided in the meantime".to_owned(),
        ));
    }
    change
        .commit(Event::changed(action, &before, &after))
        .await?;
    Ok(after)
}

fn comment(request: ResourceRequest<DecisionRequest>) -> Result<Option<String>, Error> {
    let mut problems = request.problems;
    let comment = request.body.comment;
    comment.check_new("comment", None, &mut problems);
    let comment = checked(problems, Some(comment.or_keep(&None)))?;
    Ok(comment
        .map(|comment| comment.to_string())
        .filter(|comment| !comment.is_empty()))
}

impl Proposal {
    fn check_pending(&self) -> Result<(), Error> {
        match self.status {
            ChangeStatus::Pending => Ok(()),
            decided @ (ChangeStatus::Applied
            | ChangeStatus::Rejected
            | ChangeStatus::Withdrawn
            | ChangeStatus::Expired
            | ChangeStatus::Stale) => Err(Error::Conflict(format!("the change is {decided}"))),
        }
    }
}
