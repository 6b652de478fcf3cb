//! Checkpoints, their publication and their witnesses.

use std::time::Duration;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgExecutor, Postgres};

use super::{natural, signed_number};
use crate::ledger::Log;
use crate::ledger::head::Signed;
use crate::ledger::status::WitnessStatus;
use formats::clock::Timestamp;

/// A change of the head of a log that has this origin, with `$3` and `$4` from the checkpoint.
fn with_checkpoint<'q>(
    sql: &'static str,
    log: Log,
    origin: &'q str,
    signed: &'q Signed,
) -> Query<'q, Postgres, PgArguments> {
    sqlx::query(sql)
        .bind(log.number())
        .bind(origin)
        .bind(&signed.note)
        .bind(signed_number(signed.size))
}

/// Stores a signed checkpoint. It never replaces a newer one.
pub(in crate::ledger) async fn put_checkpoint(
    database: impl PgExecutor<'_>,
    log: Log,
    origin: &str,
    signed: &Signed,
) -> sqlx::Result<()> {
    let sql = "UPDATE audit_log_heads SET checkpoint = $3, checkpoint_size = $4, checkpoint_at = $5
                WHERE log = $1 AND origin = $2 AND checkpoint_size <= $4 AND size >= $4";
    let change = with_checkpoint(sql, log, origin, signed).bind(signed.at);
    change.execute(database).await?;
    Ok(())
}

/// Stores a checkpoint with cosignatures. `plain` is the note without the new ones. It never replaces a
/// checkpoint of a larger tree.
pub(in crate::ledger) async fn put_cosigned(
    database: impl PgExecutor<'_>,
    log: Log,
    origin: &str,
    plain: &str,
    signed: &Signed,
) -> sqlx::Result<()> {
    let sql = "UPDATE audit_log_heads
                  SET checkpoint = CASE WHEN checkpoint = $6 THEN $3 ELSE checkpoint END,
                      cosigned = $3, cosigned_size = $4, cosigned_at = $5
                WHERE log = $1 AND origin = $2 AND cosigned_size <= $4 AND checkpoint_size >= $4";
    let change = with_checkpoint(sql, log, origin, signed);
    let change = change.bind(signed.at).bind(plain);
    change.execute(database).await?;
    Ok(())
}

/// Publishes a checkpoint, unless the published one is newer than the interval. It never replaces one
/// of a larger tree.
pub(in crate::ledger) async fn publish(
    database: impl PgExecutor<'_>,
    log: Log,
    origin: &str,
    signed: &Signed,
    interval: Duration,
) -> sqlx::Result<()> {
    let sql = "UPDATE audit_log_heads
                  SET published = $3, published_size = $4, published_at = clock_timestamp()
                WHERE log = $1 AND origin = $2 AND published_size <= $4 AND checkpoint_size >= $4
                  AND published IS DISTINCT FROM $3
                  AND (published_at IS NULL OR published_at > clock_timestamp()
                       OR published_at <= clock_timestamp() - make_interval(secs => $5))";
    let change = with_checkpoint(sql, log, origin, signed).bind(interval.as_secs_f64());
    change.execute(database).await?;
    Ok(())
}

/// The published checkpoint of a log and the size of its tree.
pub(in crate::ledger) async fn published(
    database: impl PgExecutor<'_>,
    log: Log,
) -> sqlx::Result<Option<(String, u64)>> {
    let row: Option<(String, i64)> = sqlx::query_as(
        "SELECT published, published_size FROM audit_log_heads
          WHERE log = $1 AND published IS NOT NULL",
    )
    .bind(log.number())
    .fetch_optional(database)
    .await?;
    row.map(|(note, size)| Ok((note, natural(size)?))).transpose()
}

/// The latest answers of the witnesses of a log.
pub(in crate::ledger) async fn witnesses(
    database: impl PgExecutor<'_>,
    log: Log,
) -> sqlx::Result<Vec<WitnessStatus>> {
    let rows: Vec<(String, i64, Option<Timestamp>, Option<String>)> = sqlx::query_as(
        "SELECT witness, size, cosigned_at, failure FROM audit_log_witnesses WHERE log = $1",
    )
    .bind(log.number())
    .fetch_all(database)
    .await?;
    rows.into_iter()
        .map(|(name, size, cosigned_at, failure)| {
            Ok(WitnessStatus { name, size: natural(size)?, cosigned_at, failure })
        })
        .collect()
}

/// Records the answer of a witness. After a failure, the latest cosignature stays.
pub(in crate::ledger) async fn put_witness(
    database: impl PgExecutor<'_>,
    log: Log,
    witness: &WitnessStatus,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO audit_log_witnesses (log, witness, size, cosigned_at, failure)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (log, witness) DO UPDATE
            SET size = CASE WHEN $5::text IS NULL THEN EXCLUDED.size ELSE audit_log_witnesses.size END,
                cosigned_at = coalesce(EXCLUDED.cosigned_at, audit_log_witnesses.cosigned_at),
                failure = EXCLUDED.failure",
    )
    .bind(log.number())
    .bind(&witness.name)
    .bind(signed_number(witness.size))
    .bind(witness.cosigned_at)
    .bind(&witness.failure)
    .execute(database)
    .await?;
    Ok(())
}
