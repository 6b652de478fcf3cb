//! People in the database.

use sqlx::PgExecutor;

use super::{Person, Profile};
use crate::clock::Timestamp;
use crate::ids::PersonId;

pub(super) async fn record(
    database: impl PgExecutor<'_>,
    id: PersonId,
    now: Timestamp,
    profile: &Profile,
) -> sqlx::Result<Person> {
    sqlx::query_as(
        "INSERT INTO people (id, issuer, subject, name, roles, seen_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (issuer, subject) DO UPDATE
            SET name = excluded.name, roles = excluded.roles, seen_at = excluded.seen_at
      RETURNING id, issuer, subject, name, roles",
    )
    .bind(id)
    .bind(&profile.issuer)
    .bind(&profile.subject)
    .bind(&profile.name)
    .bind(&profile.roles)
    .bind(now)
    .fetch_one(database)
    .await
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    id: PersonId,
) -> sqlx::Result<Option<Person>> {
    sqlx::query_as("SELECT id, issuer, subject, name, roles FROM people WHERE id = $1")
        .bind(id)
        .fetch_optional(database)
        .await
}
