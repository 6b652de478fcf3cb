//! Rejects and withdraws changes, and checks who may decide about them.

use super::independence::check_independent;
use super::proposal::{Approval, ChangeStatus, Proposal};
use super::{eligible, propose, store};
use crate::ids::ChangeId;
use crate::management::check::checked;
use crate::management::{
    Action, Authorized, Change, Context, Error, Event, ReadResources, ResourceType,
};
use crate::request;
use crate::resource::{Description, ResourceRequest};

request! {
    /// A decision about a change.
    pub struct DecisionRequest: Decision {
        /// The reason, for other people.
        "Comment" comment: Option<Description> = None;
    }
}

/// Rejects a change.
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
pub async fn withdraw(context: &Authorized<ReadResources>, id: ChangeId) -> Result<(), Error> {
    let (change, before) = begin(context, id).await?;
    if !is_proposer(&change, context, &before) {
        return Err(Error::NotAnApprover("only the proposer can withdraw the change"));
    }
    before.check_pending()?;
    let after = before.become_status(ChangeStatus::Withdrawn);
    save(change, Action::Withdraw, before, after).await?;
    Ok(())
}

/// What the author of a context can do with a pending change.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Withdraw it: the author proposed it.
    Withdraw,
    /// Approve or reject it.
    Decide,
    /// Nothing, for this reason.
    Neither(String),
}

/// What the author of the context can do with this pending change.
pub async fn choice(
    context: &Authorized<ReadResources>,
    proposal: &Proposal,
) -> Result<Choice, Error> {
    let mut change = context.begin().await?;
    if is_proposer(&change, context, proposal) {
        return Ok(Choice::Withdraw);
    }
    let allowed = match decision(&mut change, proposal, None) {
        Ok(decision) => {
            let last = (&decision, context.actor.uuid());
            check_independent(change.rows(), proposal, last).await
        }
        Err(refusal) => Err(refusal),
    };
    match allowed {
        Ok(()) => Ok(Choice::Decide),
        Err(refusal @ (Error::NotAnApprover(_) | Error::Forbidden(_))) => {
            Ok(Choice::Neither(refusal.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// Whether the author proposed the change, with this or another credential.
fn is_proposer(change: &Change<'_>, context: &Context, proposal: &Proposal) -> bool {
    let (proposer, actor) = (&proposal.proposed_by, &context.actor);
    let is_same_key = proposer.api_key_id.is_some() && proposer.api_key_id == actor.api_key_id;
    let is_same_person = proposer.person.is_some() && proposer.person.as_deref() == change.person();
    is_same_key || is_same_person
}

/// Begins a decision. Other decisions about the same change wait for it.
pub(super) async fn begin(
    context: &Authorized<ReadResources>,
    id: ChangeId,
) -> Result<(Change<'_>, Proposal), Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    let found = store::lock(change.rows(), now, id).await?;
    let mut found = found.ok_or(Error::Missing(ResourceType::Change))?;
    // A number that was raised since applies to pending changes, too.
    let required = propose::required(&context.approvals, &found.proposed_by);
    found.required = found.required.max(required);
    Ok((change, found))
}

/// The decision of the author, if the author may decide.
pub(super) fn decision(
    change: &mut Change<'_>,
    proposal: &Proposal,
    comment: Option<String>,
) -> Result<Approval, Error> {
    for roles in eligible::roles_of(proposal) {
        change.require_one_of(roles)?;
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
    Ok(Approval { person: person.to_owned(), at: change.now(), comment })
}

pub(super) async fn save(
    mut change: Change<'_>,
    action: Action,
    before: Proposal,
    after: Proposal,
) -> Result<Proposal, Error> {
    let now = change.now();
    store::save(change.rows(), now, &before, &after, None).await?;
    change.commit(Event::changed(action, &before, &after)).await?;
    Ok(after)
}

/// The comment of a decision; none if it is empty.
pub(super) fn comment(request: ResourceRequest<DecisionRequest>) -> Result<Option<String>, Error> {
    let comment = request.body.comment.or_keep(&None);
    let comment = checked(request.problems, Some(comment))?;
    Ok(comment.map(|comment| comment.to_string()).filter(|comment| !comment.is_empty()))
}

impl Proposal {
    pub(super) fn check_pending(&self) -> Result<(), Error> {
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
