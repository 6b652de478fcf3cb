//! Credentials that several identities match.

use sqlx::PgConnection;

use super::matching::Match;
use super::store;
use super::stored::WorkloadIdentity;
use crate::ids::IdentityId;
use crate::resource::Rows;

/// Credentials that an identity matches before a change and not after it.
#[derive(Clone, Debug)]
pub(crate) struct GivenUpMatch {
    identity: IdentityId,
    rule: Match,
}

impl GivenUpMatch {
    /// What the change from `before` to `after` gives up, if anything. A deleted identity has no state after.
    pub(crate) fn of(before: &WorkloadIdentity, after: Option<&WorkloadIdentity>) -> Option<Self> {
        let rule = &before.r#match;
        let is_kept = after.is_some_and(|after| rule.is_within(&after.r#match));
        (!is_kept).then(|| Self { identity: before.id, rule: rule.clone() })
    }

    /// Whether another identity can match one of the credentials: both refuse it together, and the other one
    /// alone accepts it or can be enabled. An identity without a valid row could be such.
    pub(crate) async fn has_rival(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
        let (living, is_whole) = store::living_identities(rows).await?;
        let mut others = living.iter().filter(|other| other.id != self.identity);
        Ok(!is_whole || others.any(|other| self.rule.overlaps(&other.r#match)))
    }
}
