//! The authority by which a use case changes something.

use std::sync::Arc;

use sqlx::PgConnection;

use super::independence::check_independent;
use super::proposal::{Approval, ChangeStatus, Proposal};
use super::store;
use crate::auth::Role;
use crate::change_kind::ChangeKind;
use crate::ids::ChangeId;
use crate::management::{Actor, Error, Event};
use crate::resource::Rows;
use formats::clock::Timestamp;

/// The authority by which a use case changes something.
#[derive(Clone, Debug, Default)]
pub(in crate::management) enum Authority {
    /// That of an administrator: a change that needs approval is proposed.
    #[default]
    Administrator,
    /// That of the service itself, of a job or of a command on its machine. It needs no approval.
    System,
    /// That of an administrator whose change has its last approval.
    Approved(Arc<LastApproval>),
}

/// The last approval of a change.
#[derive(Debug)]
pub(in crate::management) struct LastApproval {
    /// The change before this approval.
    pub(super) proposal: Proposal,
    pub(super) approval: Approval,
    /// The roles that all approvers need: one of each list.
    pub(in crate::management) roles: Vec<&'static [Role]>,
    /// The author of the approval.
    pub(in crate::management) approver: Actor,
}

impl Authority {
    /// The approved change, whose objects in a token the reconciler removes if they have no record.
    pub(in crate::management) fn change(&self) -> Option<ChangeId> {
        match self {
            Self::Approved(last) => Some(last.proposal.id),
            Self::Administrator | Self::System => None,
        }
    }
}

impl LastApproval {
    /// Marks the change as applied, in the transaction that makes it. Returns its states before and after.
    ///
    /// # Errors
    /// The change has more kinds than its approvers saw, an approver lost the role, the proposer or an approver
    /// was locked since, they can be one person, or another person decided it in the meantime.
    pub(in crate::management) async fn finish(
        &self,
        mut rows: Rows<&mut PgConnection>,
        now: Timestamp,
        kinds: &[ChangeKind],
        made: &Event,
    ) -> Result<(Proposal, Proposal), Error> {
        let before = self.proposal.clone();
        if kinds.iter().any(|kind| !before.action.contains(kind)) {
            let message = "it would do more than its approvers saw";
            return Err(Error::Conflict(message.to_owned()));
        }
        // What the approval saw can have changed since, and what the database hid from it can be back.
        check_independent(rows.again(), &before, (&self.approval, self.approver.uuid())).await?;
        let mut after = before.approved_by(self.approval.clone(), self.approver.uuid());
        let approvers = after.signatures();
        let valid = store::with_roles(rows.again(), &approvers, &self.roles, now).await?;
        if valid.len() < approvers.len() {
            let message = "an approver lost the role in the meantime";
            return Err(Error::Conflict(message.to_owned()));
        }
        let proposer = [(before.proposed_by.uuid(), before.proposed_at)];
        if store::with_roles(rows.again(), &proposer, &[], now).await?.is_empty() {
            let message = "the proposer was locked in the meantime";
            return Err(Error::Conflict(message.to_owned()));
        }
        after.status = ChangeStatus::Applied;
        after.resource_id = made.id();
        store::save(rows, now, &before, &after, made.resource_id).await?;
        Ok((before, after))
    }
}
