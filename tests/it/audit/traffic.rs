//! Traffic sums match the counts of the records in Postgres.

use std::time::Duration;

use engine::audit::traffic::{
    OpeningCount, Window, keep, loads, openings, sum_up, summed_up_to, traffic, uses,
};
use engine::db::Pool;
use engine::ids::{KeyId, ServiceId};
use formats::clock::{Clock, Timestamp};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use testkit::{Database, PATIENCE, RECORD_ID, insert_records, pulse, within};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The expected values of a step.
type Expected = (i64, i64, i64, Option<[f32; 3]>);

/// A week of records until `end`, at a constant rate and ten times the rate in the last hour. Response
/// times are 0.2 ms to 15 s; one in seventeen records is an error.
async fn week(pool: &Pool, end: Timestamp) {
    let days = "SELECT make_audit_day(day::date)
        FROM generate_series($1::timestamptz - interval '8 days', $1, '1 day') AS day";
    let records = format!("INSERT INTO crypto_operations_audit
            (id, ts, request_id, application_id, operation_type, key_id, payload_size_bytes,
             response_status, response_time_ms, error_code, outcome)
        SELECT {RECORD_ID}, ts, 'r', $2, 'encrypt', $3, 1,
               CASE WHEN n % 17 = 0 THEN 429 ELSE 200 END,
               0.2 * exp(11.2 * abs(sin(n * n))::real ^ 3),
               CASE WHEN n % 34 = 0 THEN 'RATE_LIMIT_EXCEEDED' WHEN n % 17 = 0 THEN 'OTHER' END,
               CASE WHEN n % 17 = 0 THEN 'refused' ELSE 'done' END
          FROM (SELECT ts, row_number() OVER (ORDER BY ts) AS n FROM (
                    SELECT generate_series($1 - interval '7 days', $1 - interval '1 ms', '50 seconds')
                     UNION ALL
                    SELECT generate_series($1 - interval '1 hour', $1 - interval '1 ms', '5 seconds')
                ) AS moments (ts)) AS numbered");
    let (service, key) = caller();
    let inserted = sqlx::query(days).bind(end).execute(pool).await;
    inserted.expect("create the days");
    let records = sqlx::query(AssertSqlSafe(records)).bind(end).bind(service).bind(key);
    records.execute(pool).await.expect("a week of records");
}

fn caller() -> (ServiceId, KeyId) {
    let of = Uuid::from_u128;
    (ServiceId::from_uuid(of(1)), KeyId::from_uuid(of(2)))
}

/// The requests, failures, rate-limited requests and percentiles of each step, from the records.
async fn counted(pool: &Pool, window: Window) -> Vec<Expected> {
    let sql = "SELECT count(id), count(error_code),
            count(*) FILTER (WHERE error_code = 'RATE_LIMIT_EXCEEDED'),
            percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY response_time_ms)
       FROM generate_series(0, $3 - 1) AS step
       LEFT JOIN crypto_operations_audit
         ON ts >= $1 + step * make_interval(secs => $2) AND ts < $1 + (step + 1) * make_interval(secs => $2)
      GROUP BY step ORDER BY step";
    let rows = sqlx::query_as::<_, (i64, i64, i64, Option<Vec<f32>>)>(sql)
        .bind(window.from)
        .bind(window.step.as_secs_f64())
        .bind(i32::try_from(window.steps).expect("steps"))
        .fetch_all(pool)
        .await
        .expect("count the records");
    let rows = rows.into_iter();
    rows.map(|(all, failed, limited, percentiles)| {
        let percentiles = percentiles.map(|three| <[f32; 3]>::try_from(three).expect("three"));
        (all, failed, limited, percentiles)
    })
    .collect()
}

#[tokio::test]
async fn hour_day_and_week_match_the_records() {
    let database = Database::new().await;
    let pool = database.pool();
    let end: Timestamp = "2026-05-12T10:00:00Z".parse().expect("a time");
    week(&pool, end).await;
    sum_up(&pool, end).await.expect("sum up");
    assert_eq!(summed_up_to(&pool).await.expect("ask"), Some(end));

    for (step, steps) in [(MINUTE, 60), (MINUTE * 15, 96), (HOUR * 2, 84)] {
        let from = end.minus(step * u32::try_from(steps).expect("steps"));
        let window = Window { from, step, steps };
        let seen = traffic(&pool, window).await.expect("sums");
        let limited = seen.errors.iter().find(|(code, _)| code == "RATE_LIMIT_EXCEEDED");
        let (_, limited) = limited.expect("the rate-limited requests");
        let expected = counted(&pool, window).await;
        assert_eq!(seen.points.len(), steps);
        assert!(expected.iter().all(|(all, ..)| *all > 0), "every step must have records");
        for (step, (all, failed, refused, percentiles)) in expected.into_iter().enumerate() {
            let point = seen.points[step];
            let found = (point.requests, point.failed, limited[step]);
            let counts = [all, failed, refused].map(|count| u64::try_from(count).expect("a count"));
            assert_eq!(found, counts.into(), "step {step} of {window:?}");
            let found = [point.p50, point.p95, point.p99].map(|time| time.expect("a time"));
            for (found, exact) in found.into_iter().zip(percentiles.expect("percentiles")) {
                let off = found / f64::from(exact);
                assert!(
                    (0.84..1.19).contains(&off),
                    "step {step} of {window:?}: {found} for {exact}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_minute_is_summarized_once_and_only_when_it_is_complete() {
    let database = Database::new().await;
    let pool = database.pool();
    let end: Timestamp = "2026-05-12T10:00:00Z".parse().expect("a time");
    week(&pool, end).await;
    let (service, key) = caller();
    let all = async || uses(&pool, key, end.minus(DAY * 3)).await.expect("uses");

    sum_up(&pool, end.minus(HOUR)).await.expect("sum up");
    let before = all().await;
    sum_up(&pool, end.minus(HOUR)).await.expect("sum up twice");
    assert_eq!(all().await, before, "no record is counted twice");
    assert!(before.last < Some(end.minus(HOUR)) && before.recent < before.all);

    sum_up(&pool, end).await.expect("sum up the rest");
    let successes =
        "SELECT count(*), max(ts) FROM crypto_operations_audit WHERE response_status = 200";
    let (served, last): (i64, Timestamp) =
        sqlx::query_as(successes).fetch_one(&pool).await.expect("count");
    assert_eq!((all().await.all, all().await.last), (served, Some(last)));

    let load = loads(&pool, end.minus(HOUR)).await.expect("loads");
    let [load] = load[..] else { panic!("{load:?}") };
    let busiest = "SELECT max(requests), sum(limited)::bigint FROM (
        SELECT count(*) AS requests, count(*) FILTER (WHERE error_code = 'RATE_LIMIT_EXCEEDED') AS limited
          FROM crypto_operations_audit WHERE ts >= $1 GROUP BY date_trunc('minute', ts)) AS minutes";
    let busiest = sqlx::query_as(busiest).bind(end.minus(HOUR)).fetch_one(&pool).await;
    let busiest: (i64, i64) = busiest.expect("count");
    assert_eq!((load.service, load.busiest, load.limited), (service, busiest.0, busiest.1));
}

/// Successful and refused requests of two callers under two policies on three days, and what else uses the key.
async fn some_openings(pool: &Pool, end: Timestamp) {
    let (service, key) = caller();
    let other = ServiceId::from_uuid(Uuid::from_u128(3));
    let sql = format!("INSERT INTO crypto_operations_audit
            (id, ts, request_id, application_id, operation_type, endpoint, key_id, policy_number,
             payload_size_bytes, response_status, response_time_ms, outcome)
        SELECT {RECORD_ID}, ts, 'r', CASE caller WHEN 1 THEN $2 ELSE $3 END, operation, endpoint, $4,
               policy, 1, status, 1, CASE status WHEN 200 THEN 'done' ELSE 'refused' END
          FROM (VALUES (40, 1, 'decrypt', '/api/v1/unprotect', 'OLD', 200),
                       (2, 1, 'decrypt', '/api/v1/unprotect', 'A', 200),
                       (2, 1, 'decrypt', '/api/v1/unprotect/batch', 'B', 200),
                       (1, 2, 'decrypt', '/api/v1/rewrap/batch', 'A', 200),
                       (1, 2, 'decrypt', '/api/v1/rewrap', 'A', 200),
                       (1, 1, 'verify', '/api/v1/operations', NULL, 200),
                       (1, 1, 'decrypt', '/api/v1/unprotect', 'A', 403),
                       (1, 1, 'encrypt', '/api/v1/rewrap', 'A', 200)
               ) AS made (days, caller, operation, endpoint, policy, status),
               LATERAL (SELECT $1 - days * interval '1 day' AS ts) AS times");
    let days = "SELECT make_audit_day(day::date)
        FROM generate_series($1::timestamptz - interval '41 days', $1, '1 day') AS day";
    sqlx::query(days).bind(end).execute(pool).await.expect("create the days");
    let records = sqlx::query(AssertSqlSafe(sql)).bind(end).bind(service).bind(other).bind(key);
    records.execute(pool).await.expect("records");
}

#[tokio::test]
async fn openings_are_counted_by_day_caller_and_policy() {
    let database = Database::new().await;
    let pool = database.pool();
    let end: Timestamp = "2026-05-12T10:00:00Z".parse().expect("a time");
    some_openings(&pool, end).await;
    let (service, key) = caller();
    let other = ServiceId::from_uuid(Uuid::from_u128(3));
    sum_up(&pool, end.minus(DAY * 2)).await.expect("sum up");
    sum_up(&pool, end).await.expect("sum up the rest");

    let since = end.minus(DAY * 60);
    let [first, second] = [2, 1].map(|days| end.minus(DAY * days).start_of_day());
    let opened = |opened, rewrapped, last| OpeningCount { opened, rewrapped, last };
    let found = openings(&pool, &[key], None, since).await.expect("openings");
    let days = [(first, opened(2, 0, Some(first))), (second, opened(1, 2, Some(second)))];
    assert_eq!(found.days, days.into(), "older days are deleted");
    assert_eq!(found.keys, [(key, opened(3, 2, Some(second)))].into());
    let callers = [(service, opened(3, 0, Some(second))), (other, opened(0, 2, None))];
    assert_eq!(found.callers, callers.into());
    let [a, b] = ["A", "B"].map(str::to_owned);
    let policies = [(a, opened(1, 2, Some(first))), (b, opened(1, 0, Some(first)))];
    assert_eq!(found.policies, policies.into());

    let policy = "B".parse().expect("a number");
    let found = openings(&pool, &[key], Some(&policy), since).await.expect("openings");
    assert_eq!(found.keys, [(key, opened(1, 0, Some(first)))].into());
    let none = openings(&pool, &[], None, since).await.expect("openings");
    assert_eq!(none, openings(&pool, &[key], None, end.plus(DAY)).await.expect("openings"));
    assert!(none.days.is_empty() && none.keys.is_empty());
}

#[tokio::test]
async fn a_clock_that_is_behind_another_does_not_undo_sums() {
    let database = Database::new().await;
    let pool = database.pool();
    let end: Timestamp = "2026-05-12T10:00:00Z".parse().expect("a time");
    some_openings(&pool, end).await;
    sum_up(&pool, end).await.expect("sum up");
    sum_up(&pool, end.minus(Duration::from_secs(60))).await.expect("nothing to sum up");
    assert_eq!(summed_up_to(&pool).await.expect("ask"), Some(end));
}

#[tokio::test]
async fn a_fast_clock_does_not_summarize_an_incomplete_minute() {
    let database = Database::new().await;
    let pool = database.pool();
    let days = "SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date - back)
          FROM generate_series(0, 1) AS back";
    sqlx::query(days).execute(&pool).await.expect("days");
    let record = insert_records(1, "r", "now() - interval '5 minutes'");
    let inserted = sqlx::query(AssertSqlSafe(record)).execute(&pool).await;
    inserted.expect("a record");
    let ahead = Clock::held_at(Clock::system().now().plus(DAY));
    let summing = tokio::spawn(keep(ahead, pool.clone(), Duration::ZERO, pulse()));
    let summed = async || summed_up_to(&pool).await.expect("ask");
    within(PATIENCE, async || summed().await.is_some()).await;
    summing.abort();
    let (summed, now) = (summed().await, Clock::system().now());
    assert!(summed <= Some(now), "{summed:?}");
}
