//! Sessions in the database.

use sqlx::{FromRow, PgExecutor};

use super::Holder;
use crate::auth::{Administrator, ApiKeyDigest};
use crate::ids::PersonId;
use formats::clock::Timestamp;

pub(super) async fn insert(
    database: impl PgExecutor<'_>,
    digest: [u8; 32],
    administrator: &Administrator,
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO dashboard_sessions (digest, api_key_id, person_id, started_at, seen_at)
         VALUES ($1, $2, $3, $4, $4)",
    )
    .bind(digest.as_slice())
    .bind(administrator.api_key_id())
    .bind(administrator.person().map(|person| person.id()))
    .bind(now)
    .execute(database)
    .await?;
    Ok(())
}

/// Records the use of a valid session and returns its holder.
pub(super) async fn touch(
    database: impl PgExecutor<'_>,
    digest: [u8; 32],
    now: Timestamp,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<Option<Holder>> {
    let row: Option<HolderRow> = sqlx::query_as(
        "UPDATE dashboard_sessions AS s
            SET seen_at = greatest(s.seen_at, $2)
          WHERE s.digest = $1 AND s.seen_at > $3 AND s.started_at > $4
      RETURNING (SELECT k.digest FROM api_keys k WHERE k.id = s.api_key_id) AS of_key, s.person_id",
    )
    .bind(digest.as_slice())
    .bind(now)
    .bind(idle_since)
    .bind(began)
    .fetch_optional(database)
    .await?;
    Ok(row.and_then(|row| match row {
        HolderRow { of_key: Some(digest), .. } => {
            Some(Holder::Key(ApiKeyDigest::from_bytes(digest)))
        }
        HolderRow { person_id, .. } => person_id.map(Holder::Person),
    }))
}

/// Whether a session is valid. This is no use of it.
pub(super) async fn is_valid(
    database: impl PgExecutor<'_>,
    digest: [u8; 32],
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM dashboard_sessions
                         WHERE digest = $1 AND seen_at > $2 AND started_at > $3)",
    )
    .bind(digest.as_slice())
    .bind(idle_since)
    .bind(began)
    .fetch_one(database)
    .await
}

#[derive(FromRow)]
struct HolderRow {
    of_key: Option<[u8; 32]>,
    person_id: Option<PersonId>,
}

pub(super) async fn delete(database: impl PgExecutor<'_>, digest: [u8; 32]) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM dashboard_sessions WHERE digest = $1")
        .bind(digest.as_slice())
        .execute(database)
        .await?;
    Ok(())
}

/// Deletes expired sessions.
pub(super) async fn sweep(
    database: impl PgExecutor<'_>,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM dashboard_sessions WHERE seen_at <= $1 OR started_at <= $2")
        .bind(idle_since)
        .bind(began)
        .execute(database)
        .await?;
    Ok(())
}
