//! The policies that credentials are bound to.

use sqlx::PgConnection;

use super::store;
use crate::auth::{BoundPolicy, UNKNOWN_POLICY};
use crate::resource::{Member, Rows};
use formats::problem::{Code, Problem, Problems};

/// Finds the policy that a request for a credential names. It cannot be deleted until the transaction
/// ends.
pub(in crate::management) async fn find_bound(
    rows: Rows<&mut PgConnection>,
    problems: &mut Problems,
    member: &mut Member<BoundPolicy>,
) -> sqlx::Result<()> {
    if let Member::Given(bound) = member
        && let Some(number) = bound.requested()
    {
        let id = store::lock_living(rows, number).await?;
        if id.is_none() {
            problems.note(Problem::new("policyNumber", Code::Unknown, UNKNOWN_POLICY));
        }
        *bound = bound.clone().found(id);
    }
    Ok(())
}
