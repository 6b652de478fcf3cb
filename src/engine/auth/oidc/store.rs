//! The sign-ins that were finished, in the database, so that all instances know them.

use std::time::Duration;

use sqlx::PgExecutor;

use formats::clock::Timestamp;

/// Longer than a sign-in takes. Then its `state` is too old, also by clocks that differ.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Records that a code is exchanged for the `state` with this digest. False if one was exchanged before.
pub(super) async fn finish(
    database: impl PgExecutor<'_>,
    state: &[u8; 32],
    now: Timestamp,
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "WITH forgotten AS (DELETE FROM finished_sign_ins WHERE finished_at < $3)
         INSERT INTO finished_sign_ins (state_digest, finished_at) VALUES ($1, $2)
         ON CONFLICT DO NOTHING",
    )
    .bind(state.as_slice())
    .bind(now)
    .bind(now.minus(KEPT))
    .execute(database)
    .await?;
    Ok(done.rows_affected() == 1)
}
