//! Policies in the database, as the runtime needs them.

use sqlx::{FromRow, PgExecutor};

use super::policies::Name;
use super::{FailureMode, KeyOwnership, Policy, Status};
use crate::db::undecodable;
use crate::ids::{PolicyId, ServiceId};
use crate::operation::Operations;

/// The living policy of that name.
pub(super) async fn named(
    database: impl PgExecutor<'_>,
    name: &Name,
) -> sqlx::Result<Option<Policy>> {
    let (id, number) = match name {
        Name::Id(id) => (Some(*id), None),
        Name::Number(number) => (None, Some(number.as_str())),
    };
    let row: Option<PolicyRow> = sqlx::query_as(
        "SELECT id, policy_number, destination_service_id, key_ownership, alg, enc,
                status, failure_mode, allowed_service_ids, allowed_operations
           FROM policies
          WHERE deleted_at IS NULL AND (id = $1 OR policy_number = $2)",
    )
    .bind(id)
    .bind(number)
    .fetch_optional(database)
    .await?;
    row.map(Policy::try_from).transpose()
}

/// The columns that make a policy what it is.
#[derive(Debug, FromRow)]
pub struct PolicyRow {
    id: PolicyId,
    policy_number: String,
    destination_service_id: ServiceId,
    key_ownership: KeyOwnership,
    alg: String,
    enc: String,
    status: Status,
    failure_mode: FailureMode,
    allowed_service_ids: Option<Vec<ServiceId>>,
    allowed_operations: Vec<String>,
}

impl TryFrom<PolicyRow> for Policy {
    type Error = sqlx::Error;

    fn try_from(row: PolicyRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.id,
            number: row.policy_number.parse().map_err(undecodable)?,
            destination: row.destination_service_id,
            key_ownership: row.key_ownership,
            alg: row.alg.parse().map_err(undecodable)?,
            enc: row.enc.parse().map_err(undecodable)?,
            status: row.status,
            failure_mode: row.failure_mode,
            allowed_services: row.allowed_service_ids,
            allowed_operations: Operations::of_names(&row.allowed_operations)
                .map_err(undecodable)?,
        })
    }
}
