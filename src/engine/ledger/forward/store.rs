//! The positions of collectors in Postgres.

use sqlx::PgExecutor;
use uuid::Uuid;

use super::cursor::Position;
use super::status::Lag;
use crate::db::Pool;
use crate::ids::time_of;
use crate::ledger::Log;
use crate::ledger::store::{natural, signed_number};

/// The position of a collector, which is the start of the log for a new one.
pub(super) async fn position(
    database: impl PgExecutor<'_>,
    target: &str,
    log: Log,
) -> sqlx::Result<Position> {
    let (sent, confirmed): (i64, i64) = sqlx::query_as(
        "INSERT INTO audit_forward_positions (target, log) VALUES ($1, $2)
         ON CONFLICT (target, log) DO UPDATE SET target = EXCLUDED.target
         RETURNING sent, confirmed",
    )
    .bind(target)
    .bind(log.number())
    .fetch_one(database)
    .await?;
    Ok(Position { sent: natural(sent)?, confirmed: natural(confirmed)? })
}

/// Moves a position. False if it is another one than `old`; then nothing changes.
pub(super) async fn advance(
    database: impl PgExecutor<'_>,
    target: &str,
    log: Log,
    old: Position,
    new: Position,
) -> sqlx::Result<bool> {
    let moved = sqlx::query(
        "UPDATE audit_forward_positions SET sent = $5, confirmed = $6
          WHERE target = $1 AND log = $2 AND sent = $3 AND confirmed = $4",
    )
    .bind(target)
    .bind(log.number())
    .bind(signed_number(old.sent))
    .bind(signed_number(old.confirmed))
    .bind(signed_number(new.sent))
    .bind(signed_number(new.confirmed))
    .execute(database)
    .await?;
    Ok(moved.rows_affected() == 1)
}

/// What a collector lacks of each log.
pub(super) async fn lags(database: impl PgExecutor<'_>, target: &str) -> sqlx::Result<Vec<Lag>> {
    let rows: Vec<_> = sqlx::query_as(
        "SELECT log, greatest(size - sent, 0),
                CASE WHEN size > sent THEN (
                    SELECT segment FROM audit_log_positions s
                     WHERE s.log = p.log AND s.base <= p.sent ORDER BY s.base DESC LIMIT 1) END
           FROM audit_forward_positions p JOIN audit_log_heads USING (log) WHERE target = $1",
    )
    .bind(target)
    .fetch_all(database)
    .await?;
    let lag = |(log, entries, oldest): (i16, i64, Option<Uuid>)| {
        let log = Log::ALL.into_iter().find(|it| it.number() == log);
        let entries = natural(entries).ok()?;
        Some(Lag { log: log?, entries, oldest: oldest.map(time_of) })
    };
    Ok(rows.into_iter().filter_map(lag).collect())
}

/// Removes the positions of a collector, so that retention does not wait for it. False if there are
/// none.
pub async fn remove_target(pool: &Pool, target: &str) -> sqlx::Result<bool> {
    let removed = sqlx::query("DELETE FROM audit_forward_positions WHERE target = $1")
        .bind(target)
        .execute(pool)
        .await?;
    Ok(removed.rows_affected() > 0)
}
