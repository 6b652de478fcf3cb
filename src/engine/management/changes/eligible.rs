//! The people who can decide about changes.

use super::proposal::Proposal;
use super::store;
use crate::auth::Role;
use crate::change_kind::ChangeKind;
use crate::db::Pool;
use crate::management::{
    FreezeEverything, ManageAdminKeys, ManageApiKeys, ManageKeys, ManagePolicies, ResourceType,
    Right,
};
use crate::settings::Approvals;
use formats::clock::Timestamp;

/// Fewer people than needed can propose and approve changes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub kind: ChangeKind,
    /// How many people have the role, by a valid admin key or by their last sign-in.
    pub people: i64,
    /// How many people are needed: the proposer and the approvers.
    pub needed: i64,
}

/// The people of valid admin keys who never signed in at this issuer.
pub async fn unknown_people(
    pool: &Pool,
    now: Timestamp,
    issuer: &str,
) -> sqlx::Result<Vec<String>> {
    store::unknown_people(pool, now, issuer).await
}

/// The roles whose holders propose and approve changes of this kind.
const fn roles(kind: ChangeKind) -> &'static [Role] {
    match kind {
        ChangeKind::KeyImport
        | ChangeKind::KeyAdopt
        | ChangeKind::KeyActivate
        | ChangeKind::KeyDestroy => ManageKeys::ROLES,
        ChangeKind::PolicyOpen => ManagePolicies::ROLES,
        ChangeKind::CredentialOpen => ManageApiKeys::ROLES,
        ChangeKind::ApiKeyAdmin => ManageAdminKeys::ROLES,
    }
}

/// The roles that decide about a change: one of each list.
pub(super) fn roles_of(proposal: &Proposal) -> Vec<&'static [Role]> {
    let of_kinds = proposal.action.iter().map(|kind| roles(*kind));
    let is_emergency = proposal.resource_type == ResourceType::Emergency;
    let of_resource = is_emergency.then_some(FreezeEverything::ROLES);
    of_kinds.chain(of_resource).collect()
}

/// The kinds that need approval and for which there are too few people.
pub async fn shortage(
    pool: &Pool,
    now: Timestamp,
    approvals: &Approvals,
) -> sqlx::Result<Vec<Shortage>> {
    let needed = i64::from(approvals.approvers) + 1;
    let mut found = Vec::new();
    for kind in ChangeKind::ALL {
        if !approvals.require(kind) {
            continue;
        }
        let people = store::people(pool, roles(kind), now).await?;
        if people < needed {
            found.push(Shortage { kind, people, needed });
        }
    }
    Ok(found)
}
