//! Requests with an `Idempotency-Key` in the database.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{Claim, IdempotentCall, KeptAnswer};
use crate::management::ResourceType;
use crate::revision::Revision;
use formats::clock::Timestamp;

/// The record of a request.
#[derive(sqlx::FromRow)]
pub(super) struct IdempotencyRecord {
    pub(super) fingerprint: Vec<u8>,
    pub(super) resource_type: Option<ResourceType>,
    pub(super) answer: Option<String>,
    pub(super) changed_to: Option<Revision>,
    pub(super) attempt: Uuid,
    pub(super) begun_at: Timestamp,
    pub(super) mac: Option<Vec<u8>>,
}

/// Claims the key of a request, unless another request has it since `kept_since`, or without an answer
/// since `waited_since`. Returns whether it did.
pub(super) async fn claim(
    database: impl PgExecutor<'_>,
    claim: &Claim,
    kept_since: Timestamp,
    waited_since: Timestamp,
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO idempotent_calls AS known (caller, path, key, fingerprint, attempt, begun_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (caller, path, key) DO UPDATE
            SET fingerprint = excluded.fingerprint, attempt = excluded.attempt,
                begun_at = excluded.begun_at, resource_type = NULL, answer = NULL, changed_to = NULL,
                mac = NULL
          WHERE known.begun_at <= $7 OR (known.answer IS NULL AND known.begun_at <= $8)",
    )
    .bind(claim.call.caller.uuid())
    .bind(&claim.call.path)
    .bind(&claim.call.key)
    .bind(claim.call.fingerprint.as_slice())
    .bind(claim.attempt)
    .bind(claim.begun_at)
    .bind(kept_since)
    .bind(waited_since)
    .execute(database)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub(super) async fn find(
    database: impl PgExecutor<'_>,
    call: &IdempotentCall,
) -> sqlx::Result<Option<IdempotencyRecord>> {
    sqlx::query_as(
        "SELECT fingerprint, resource_type, answer, changed_to, attempt, begun_at, mac
           FROM idempotent_calls WHERE caller = $1 AND path = $2 AND key = $3",
    )
    .bind(call.caller.uuid())
    .bind(&call.path)
    .bind(&call.key)
    .fetch_optional(database)
    .await
}

/// Writes the answer. Returns whether the claim still holds.
pub(super) async fn keep(
    connection: &mut PgConnection,
    claim: &Claim,
    answer: &KeptAnswer,
    mac: &[u8],
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE idempotent_calls SET resource_type = $5, answer = $6, changed_to = $7, mac = $8
          WHERE caller = $1 AND path = $2 AND key = $3 AND attempt = $4",
    )
    .bind(claim.call.caller.uuid())
    .bind(&claim.call.path)
    .bind(&claim.call.key)
    .bind(claim.attempt)
    .bind(answer.resource_type)
    .bind(&answer.resource)
    .bind(answer.changed_to)
    .bind(mac)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub(super) async fn release(database: impl PgExecutor<'_>, claim: &Claim) -> sqlx::Result<()> {
    sqlx::query(
        "DELETE FROM idempotent_calls
          WHERE caller = $1 AND path = $2 AND key = $3 AND attempt = $4 AND answer IS NULL",
    )
    .bind(claim.call.caller.uuid())
    .bind(&claim.call.path)
    .bind(&claim.call.key)
    .bind(claim.attempt)
    .execute(database)
    .await?;
    Ok(())
}

pub(super) async fn delete_before(
    database: impl PgExecutor<'_>,
    oldest: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM idempotent_calls WHERE begun_at <= $1")
        .bind(oldest)
        .execute(database)
        .await?;
    Ok(())
}
