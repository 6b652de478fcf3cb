//! Sessions in the database.

use sqlx::PgExecutor;

use crate::auth::AtRest;
use crate::clock::Timestamp;
use crate::ids::ApiKeyId;

pub(super) async fn insert(
    database: impl PgExecutor<'_>,
    digest: [u8; 32],
    api_key: ApiKeyId,
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO dashboard_sessions (digest, api_key_id, started_at, seen_at)
         VALUES ($1, $2, $3, $3)",
    )
    .bind(digest.as_slice())
    .bind(api_key)
    .bind(now)
    .execute(database)
    .await?;
    Ok(())
}

/// Records the use of a valid session and returns the digest of its key.
pub(super) async fn touch(
    database: impl PgExecutor<'_>,
    digest: [u8; 32],
    now: Timestamp,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<Option<AtRest>> {
    let of_key: Option<[u8; 32]> = sqlx::query_scalar(
        "UPDATE dashboard_sessions AS s
            SET seen_at = greatest(s.seen_at, $2)
           FROM api_keys AS k
          WHERE s.digest = $1 AND k.id = s.api_key_id
            AND s.seen_at > $3 AND s.started_at > $4
      RETURNING k.digest",
    )
    .bind(digest.as_slice())
    .bind(now)
    .bind(idle_since)
    .bind(began)
    .fetch_optional(database)
    .await?;
    Ok(of_key.map(AtRest::from_bytes))
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
