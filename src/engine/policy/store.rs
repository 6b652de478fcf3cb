//! Policies in the database, as the runtime reads them.

use std::sync::Arc;

use sqlx::PgExecutor;

use super::envelope_policy::EnvelopePolicy;
use super::{Policy, PolicyName};
use crate::auth::{Service, ServiceStatus};
use crate::db::Pool;
use crate::ids::{PolicyId, ServiceId};
use crate::resource::{Rows, Select, Stored as _, select};
use crate::seals;

/// The policy of that name that is not deleted.
pub(super) async fn named(
    rows: Rows<impl PgExecutor<'_>>,
    name: &PolicyName,
) -> sqlx::Result<Option<Policy>> {
    let living = "WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)";
    select_named(living, name).fetch_optional(rows).await
}

/// A query of policies. Its condition compares the ID with `$1` and the number with `$2`, one of which is null.
pub(crate) fn select_named(condition: &'static str, name: &PolicyName) -> Select<Policy> {
    let (id, number) = name.parts();
    select(condition).bind(id).bind(number)
}

/// Whether a service is frozen; none if its row does not count.
pub(super) async fn is_frozen(
    rows: Rows<impl PgExecutor<'_>>,
    id: ServiceId,
) -> sqlx::Result<Option<bool>> {
    let found: Option<Service> = select("WHERE id = $1").bind(id).fetch_optional(rows).await?;
    Ok(found.map(|service| service.status == ServiceStatus::Frozen))
}

/// The policy with this identifier. The row of a deleted policy keeps its last state.
pub(super) async fn known(database: &Pool, id: PolicyId) -> sqlx::Result<EnvelopePolicy> {
    let found = select("WHERE id = $1").bind(id).fetch_optional(database.rows()).await?;
    if let Some(policy) = found {
        return Ok(EnvelopePolicy::Policy(Arc::new(policy)));
    }
    let was_made = seals::was_made(database, Policy::TABLE, id.uuid());
    Ok(if was_made.await? { EnvelopePolicy::Lost } else { EnvelopePolicy::Never })
}
