//! The aggregates in Postgres.

use sqlx::PgConnection;

use super::histogram::{IN_AN_OCTAVE, LAST, SHORTEST};
use super::openings::OpeningSum;
use super::{DayUses, Load, Sum, Uses, Window};
use crate::audit::{Endpoint, OperationType};
use crate::db::Pool;
use crate::ids::KeyId;
use crate::policy_number::PolicyNumber;
use formats::clock::Timestamp;

/// The largest number in an aggregate. Whoever writes to the database must not make a sum too large.
const MOST: i64 = 1 << 40;

/// Aggregates up to an hour, until `complete_until`, and returns whether there is more. Only one instance
/// works at a time.
pub(super) async fn sum_some(db: &Pool, complete_until: Timestamp) -> sqlx::Result<bool> {
    let mut transaction = db.begin().await?;
    // The first run starts at the oldest record. Minutes that are summed are not summed again, whatever the time says. The
    // clock of another instance can be ahead, but not by an hour.
    let bounds: Option<(Timestamp, Timestamp, bool)> = sqlx::query_as(
        "WITH bounds AS (
             SELECT date_trunc('minute', coalesce(
                        greatest(CASE WHEN summed_up_to <= $1 + interval '1 hour' THEN summed_up_to END,
                                 (SELECT max(minute) + interval '1 minute' FROM traffic_minutes
                                   WHERE minute < $1)),
                        (SELECT min(ts) FROM crypto_operations_audit), $1)) AS start,
                    date_trunc('minute', $1::timestamptz) AS stop
               FROM (SELECT summed_up_to FROM traffic_progress FOR UPDATE SKIP LOCKED) AS progress
         )
         SELECT start, least(stop, start + interval '1 hour'), stop > start + interval '1 hour'
           FROM bounds",
    )
    .bind(complete_until)
    .fetch_optional(&mut *transaction)
    .await?;
    let Some((from, to, more)) = bounds else {
        return Ok(false);
    };
    if from < to {
        // The records of an hour can take longer than other statements; the caller limits the time.
        sqlx::query("SELECT set_config('statement_timeout', '0', true)")
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "INSERT INTO traffic_minutes (minute, operation, outcome, bucket, requests)
             SELECT date_trunc('minute', ts), coalesce(operation_type, ''), coalesce(error_code, ''),
                    least($3, greatest(0, floor($4 * ln(greatest(response_time_ms, $5) / $5) / ln(2::float8)))),
                    count(*)
               FROM crypto_operations_audit
              WHERE ts >= $1 AND ts < $2
              GROUP BY 1, 2, 3, 4
                 ON CONFLICT (minute, operation, outcome, bucket) DO UPDATE SET requests = excluded.requests",
        )
        .bind(from)
        .bind(to)
        .bind(f64::from(LAST))
        .bind(f64::from(IN_AN_OCTAVE))
        .bind(SHORTEST)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO service_minutes (minute, service_id, requests, limited)
             SELECT date_trunc('minute', ts), application_id, count(*),
                    count(*) FILTER (WHERE error_code = 'RATE_LIMIT_EXCEEDED')
               FROM crypto_operations_audit
              WHERE ts >= $1 AND ts < $2 AND application_id IS NOT NULL
              GROUP BY 1, 2
                 ON CONFLICT (minute, service_id) DO UPDATE
                SET requests = excluded.requests, limited = excluded.limited",
        )
        .bind(from)
        .bind(to)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO key_use_days AS known
                    (key_id, day, protections, openings, last_protected_at, last_opened_at)
             SELECT key_id, (ts AT TIME ZONE 'UTC')::date,
                    count(*) FILTER (WHERE operation_type = ANY ($3)),
                    count(*) FILTER (WHERE coalesce(operation_type, '') <> ALL ($3)),
                    max(ts) FILTER (WHERE operation_type = ANY ($3)),
                    max(ts) FILTER (WHERE coalesce(operation_type, '') <> ALL ($3))
               FROM crypto_operations_audit
              WHERE ts >= $1 AND ts < $2 AND key_id IS NOT NULL AND response_status = 200
              GROUP BY 1, 2
                 ON CONFLICT (key_id, day) DO UPDATE
                SET protections = least(known.protections + excluded.protections, $4),
                    openings = least(known.openings + excluded.openings, $4),
                    last_protected_at = greatest(known.last_protected_at, excluded.last_protected_at),
                    last_opened_at = greatest(known.last_opened_at, excluded.last_opened_at)",
        )
        .bind(from)
        .bind(to)
        .bind(OperationType::PROTECTING)
        .bind(MOST)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO key_opening_days AS known
                    (key_id, day, service_id, policy_number, openings, rewraps)
             SELECT key_id, (ts AT TIME ZONE 'UTC')::date, application_id, coalesce(policy_number, ''),
                    count(*), count(*) FILTER (WHERE endpoint = ANY ($4))
               FROM crypto_operations_audit
              WHERE ts >= $1 AND ts < $2 AND key_id IS NOT NULL AND application_id IS NOT NULL
                AND response_status = 200 AND coalesce(operation_type, '') <> ALL ($3)
              GROUP BY 1, 2, 3, 4
                 ON CONFLICT (key_id, day, service_id, policy_number) DO UPDATE
                SET openings = least(known.openings + excluded.openings, $5),
                    rewraps = least(known.rewraps + excluded.rewraps, $5)",
        )
        .bind(from)
        .bind(to)
        .bind(OperationType::PROTECTING)
        .bind(Endpoint::REWRAPPING)
        .bind(MOST)
        .execute(&mut *transaction)
        .await?;
        sqlx::query("UPDATE traffic_progress SET summed_up_to = $1")
            .bind(to)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(more)
}

/// Deletes aggregates of minutes before `oldest`, and the openings of days before `oldest_day`. Key usage is kept.
pub(super) async fn forget(
    db: &Pool,
    oldest: Timestamp,
    oldest_day: Timestamp,
) -> sqlx::Result<()> {
    for (sql, oldest) in [
        ("DELETE FROM traffic_minutes WHERE minute < $1", oldest),
        ("DELETE FROM service_minutes WHERE minute < $1", oldest),
        ("DELETE FROM key_opening_days WHERE day < ($1 AT TIME ZONE 'UTC')::date", oldest_day),
    ] {
        sqlx::query(sql).bind(oldest).execute(db).await?;
    }
    Ok(())
}

pub(super) async fn progress(db: &Pool) -> sqlx::Result<Option<Timestamp>> {
    sqlx::query_scalar("SELECT summed_up_to FROM traffic_progress").fetch_one(db).await
}

pub(super) async fn sums(db: &Pool, window: Window) -> sqlx::Result<Vec<Sum>> {
    sqlx::query_as(
        "SELECT floor(extract(epoch FROM minute - $1) / $3)::bigint AS step, outcome, bucket,
                sum(requests)::bigint AS requests
           FROM traffic_minutes
          WHERE minute >= $1 AND minute < $2
          GROUP BY 1, 2, 3",
    )
    .bind(window.from)
    .bind(window.to())
    .bind(i64::try_from(window.step.as_secs()).unwrap_or(i64::MAX))
    .fetch_all(db)
    .await
}

pub(super) async fn loads(db: &Pool, since: Timestamp) -> sqlx::Result<Vec<Load>> {
    sqlx::query_as(
        "SELECT service_id, max(requests) AS busiest, sum(limited)::bigint AS limited
           FROM service_minutes
          WHERE minute >= $1
          GROUP BY 1
          ORDER BY limited DESC, busiest DESC
          LIMIT 20",
    )
    .bind(since)
    .fetch_all(db)
    .await
}

pub(super) async fn uses(db: &Pool, key: KeyId, since: Timestamp) -> sqlx::Result<Uses> {
    sqlx::query_as(
        "SELECT coalesce(sum(protections + openings) FILTER (WHERE day >= ($2 AT TIME ZONE 'UTC')::date), 0)::bigint AS recent,
                coalesce(sum(protections + openings), 0)::bigint AS \"all\",
                max(greatest(last_protected_at, last_opened_at)) AS last
           FROM key_use_days
          WHERE key_id = $1",
    )
    .bind(key)
    .bind(since)
    .fetch_one(db)
    .await
}

pub(super) async fn last_uses(db: &Pool, keys: &[KeyId]) -> sqlx::Result<Vec<(KeyId, Timestamp)>> {
    sqlx::query_as(
        "SELECT key_id, max(greatest(last_protected_at, last_opened_at)) FROM key_use_days
          WHERE key_id = ANY($1) GROUP BY 1",
    )
    .bind(keys)
    .fetch_all(db)
    .await
}

/// Whether a record before `end` is not aggregated yet, or nobody knows: a time in the future was not written by an
/// instance.
pub(super) async fn lacks(connection: &mut PgConnection, end: Timestamp) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT coalesce(summed_up_to > now() + interval '1 day', false)
                OR coalesce(summed_up_to < $1, true)
                   AND EXISTS (SELECT FROM crypto_operations_audit
                                WHERE ts < $1 AND (summed_up_to IS NULL OR ts >= summed_up_to))
           FROM traffic_progress",
    )
    .bind(end)
    .fetch_one(connection)
    .await
}

/// The uses of all keys on the days before that of `end`, and those of the days from `since` on.
pub(super) async fn uses_until(
    connection: &mut PgConnection,
    since: Timestamp,
    end: Timestamp,
) -> sqlx::Result<Vec<DayUses>> {
    sqlx::query_as(
        "SELECT key_id AS key,
                coalesce(sum(protections + openings) FILTER (WHERE day >= ($1 AT TIME ZONE 'UTC')::date), 0)::bigint AS recent,
                max(last_protected_at) AS last_protected, max(last_opened_at) AS last_opened
           FROM key_use_days
          WHERE day < ($2 AT TIME ZONE 'UTC')::date
          GROUP BY 1",
    )
    .bind(since)
    .bind(end)
    .fetch_all(connection)
    .await
}

/// What was opened with these keys from the day of `since` on: by day, by key, by caller and by policy.
pub(super) async fn openings(
    db: &Pool,
    keys: &[KeyId],
    policy: Option<&PolicyNumber>,
    since: Timestamp,
) -> sqlx::Result<Vec<OpeningSum>> {
    sqlx::query_as(
        "SELECT day::timestamp AT TIME ZONE 'UTC' AS day, key_id AS key, service_id AS caller,
                policy_number AS policy,
                sum(openings)::bigint AS openings, sum(rewraps)::bigint AS rewraps,
                max(day) FILTER (WHERE openings > rewraps)::timestamp AT TIME ZONE 'UTC' AS last
           FROM key_opening_days
          WHERE key_id = ANY ($1) AND day >= ($2 AT TIME ZONE 'UTC')::date
            AND ($3::text IS NULL OR policy_number = $3)
          GROUP BY GROUPING SETS ((day), (key_id), (service_id), (policy_number))",
    )
    .bind(keys)
    .bind(since)
    .bind(policy)
    .fetch_all(db)
    .await
}
