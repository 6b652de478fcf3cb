//! Whether different people propose and approve a change.

use std::collections::HashSet;

use sqlx::PgConnection;
use uuid::Uuid;

use super::proposal::{Approval, Proposal};
use super::store;
use crate::management::Error;
use crate::resource::Rows;

/// Somebody who proposes or approves a change.
struct Participant<'p> {
    /// The API key, or the person who signed in.
    credential: Option<Uuid>,
    person: Option<&'p str>,
}

/// Refuses a second approval of one person, also with the API key of another person that they may know. The
/// earlier participants are compared with each other again: whoever writes to the database could have hidden
/// one from an earlier approval.
pub(super) async fn check_independent(
    mut rows: Rows<&mut PgConnection>,
    proposal: &Proposal,
    (approval, approver): (&Approval, Option<Uuid>),
) -> Result<(), Error> {
    if proposal.approvals.iter().any(|earlier| earlier.person == approval.person) {
        return Err(Error::NotAnApprover(
            "you have approved the change: another person must approve it too",
        ));
    }
    let mut all = HashSet::new();
    for Participant { credential, person } in participants(proposal, approval, approver) {
        let known_to = match credential {
            Some(id) => store::known_to(rows.again(), id).await?.ok_or(Error::NotAnApprover(
                "the row of a credential of this change does not count: an operator must examine it first",
            ))?,
            None => Vec::new(),
        };
        let own: HashSet<String> = known_to.into_iter().chain(person.map(str::to_owned)).collect();
        if !all.is_disjoint(&own) {
            return Err(Error::NotAnApprover(
                "a person of this change created the API key of another person and may know it: a \
                 different person must approve the change",
            ));
        }
        all.extend(own);
    }
    let all: Vec<String> = all.into_iter().collect();
    if store::can_be_one(rows, &all).await? {
        return Err(Error::NotAnApprover(
            "you can be another person of this change, because the provider can give a person different \
             subjects in ID tokens and access tokens: use the kind of token that the others used",
        ));
    }
    Ok(())
}

fn participants<'p>(
    proposal: &'p Proposal,
    approval: &'p Approval,
    approver: Option<Uuid>,
) -> impl Iterator<Item = Participant<'p>> {
    let proposer = Participant {
        credential: proposal.proposed_by.uuid(),
        person: proposal.proposed_by.person.as_deref(),
    };
    let approvals = proposal.approvals.iter().chain([approval]);
    let approvers = proposal.approver_ids.iter().copied().chain([approver]);
    let approvers = approvals.zip(approvers);
    let approvers = approvers
        .map(|(it, credential)| Participant { credential, person: Some(it.person.as_str()) });
    [proposer].into_iter().chain(approvers)
}
