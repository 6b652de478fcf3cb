//! People in the database.

use sqlx::PgExecutor;

use super::{Person, Profile, TokenKind};
use crate::ids::PersonId;

pub(super) async fn record(
    database: impl PgExecutor<'_>,
    id: PersonId,
    profile: &Profile,
) -> sqlx::Result<Person> {
    sqlx::query_as(
        "INSERT INTO people AS known (id, issuer, subject, name, roles, issued_at, is_confirmed,
                                       by_id_token, by_access_token)
         VALUES ($1, $2, $3, coalesce($4, $3), $5, coalesce($6, '-infinity'), $7, $8, NOT $8)
         ON CONFLICT (issuer, subject) DO UPDATE
            SET name = coalesce($4, known.name),
                roles = CASE WHEN known.issued_at <= $6 THEN excluded.roles
                             -- Tokens without a time have no order: the roles of both remain.
                             WHEN known.issued_at = excluded.issued_at THEN ARRAY(
                                 SELECT unnest(known.roles) INTERSECT SELECT unnest(excluded.roles))
                             ELSE known.roles END,
                issued_at = greatest(known.issued_at, excluded.issued_at),
                is_confirmed = known.is_confirmed OR excluded.is_confirmed,
                by_id_token = known.by_id_token OR excluded.by_id_token,
                by_access_token = known.by_access_token OR excluded.by_access_token
      RETURNING id, issuer, subject, name, roles",
    )
    .bind(id)
    .bind(&profile.issuer)
    .bind(&profile.subject)
    .bind(&profile.name)
    .bind(&profile.roles)
    .bind(profile.issued_at)
    .bind(profile.source.identifies())
    .bind(profile.source == TokenKind::Id)
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
