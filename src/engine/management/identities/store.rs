//! Workload identities in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{IdentityFilter, WorkloadIdentity};
use crate::ids::IdentityId;
use crate::management::PageRequest;
use crate::resource::{Rows, select};

pub(super) async fn list(
    rows: Rows<impl PgExecutor<'_>>,
    filter: &IdentityFilter,
    page: PageRequest,
) -> sqlx::Result<Vec<WorkloadIdentity>> {
    select(
        "WHERE deleted_at IS NULL
         AND ($1::uuid IS NULL OR id > $1)
         AND ($2::uuid IS NULL OR service_id = $2)
         AND ($3::text IS NULL OR status = $3)
         AND ($4::text IS NULL OR name = $4)
         AND ($5::text IS NULL OR position(lower($5) IN lower(name)) > 0)
       ORDER BY id
       LIMIT $6",
    )
    .bind(page.after())
    .bind(filter.service_id)
    .bind(filter.status)
    .bind(filter.name.as_deref())
    .bind(filter.name_contains.as_deref())
    .bind(page.rows())
    .fetch_listed(rows)
    .await
}

pub(super) async fn read(
    rows: Rows<impl PgExecutor<'_>>,
    id: IdentityId,
) -> sqlx::Result<Option<WorkloadIdentity>> {
    select("WHERE deleted_at IS NULL AND id = $1").bind(id).fetch_optional(rows).await
}

/// Reads and locks an identity.
pub(super) async fn lock(
    rows: Rows<&mut PgConnection>,
    id: IdentityId,
) -> sqlx::Result<Option<WorkloadIdentity>> {
    select("WHERE deleted_at IS NULL AND id = $1").bind(id).lock(rows).await
}
