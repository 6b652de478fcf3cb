//! People in the database, as administrators see them.

use sqlx::{PgConnection, PgExecutor};

use super::{Person, PersonFilter};
use crate::auth::{ApiKey, PersonStatus, Role};
use crate::ids::PersonId;
use crate::management::PageRequest;
use crate::resource::{Rows, select};

pub(super) async fn list(
    rows: Rows<impl PgExecutor<'_>>,
    filter: &PersonFilter,
    page: PageRequest,
) -> sqlx::Result<Vec<Person>> {
    select(
        "WHERE ($1::uuid IS NULL OR id > $1)
           AND ($2::boolean IS NULL OR $2 = (id IN (SELECT id FROM locked_people)))
         ORDER BY id
         LIMIT $3",
    )
    .bind(page.after())
    .bind(filter.status.map(|status| status == PersonStatus::Locked))
    .bind(page.rows())
    .fetch_listed(rows)
    .await
}

pub(super) async fn read(
    rows: Rows<impl PgExecutor<'_>>,
    id: PersonId,
) -> sqlx::Result<Option<Person>> {
    select("WHERE id = $1").bind(id).fetch_optional(rows).await
}

/// The people with this subject, of any issuer.
pub(super) async fn of_subject(
    rows: Rows<impl PgExecutor<'_>>,
    subject: &str,
) -> sqlx::Result<Vec<Person>> {
    select("WHERE subject = $1 ORDER BY id").bind(subject).fetch_all(rows).await
}

/// The API keys that this subject created.
pub(super) async fn keys_made_by(
    rows: Rows<impl PgExecutor<'_>>,
    subject: &str,
) -> sqlx::Result<Vec<ApiKey>> {
    select("WHERE $1 = ANY (made_by) AND revoked_at IS NULL ORDER BY id")
        .bind(subject)
        .fetch_all(rows)
        .await
}

/// Reads and locks the row of a person.
pub(super) async fn lock(
    rows: Rows<&mut PgConnection>,
    id: PersonId,
) -> sqlx::Result<Option<Person>> {
    select("WHERE id = $1").bind(id).lock(rows).await
}

/// Whether a person of this issuer other than this one is not locked and was an owner at the last check.
pub(super) async fn has_other_owner(
    rows: Rows<&mut PgConnection>,
    issuer: Option<&str>,
    id: PersonId,
) -> sqlx::Result<bool> {
    let owners = select::<Person>("WHERE issuer = $1 AND id <> $2 AND $3 = ANY (roles)");
    let owners = owners.bind(issuer).bind(id).bind(Role::Owner).fetch_all(rows).await?;
    Ok(owners.iter().any(|owner| !owner.is_locked()))
}
