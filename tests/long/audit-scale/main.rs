//! Measures the service's audit query among many records, for each filter of the API. Postgres
//! generates the records. Each query runs over the closed days, and over all days including the
//! current one. Prints a table, and the plan of each query.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::audit::{EntryFilter, OperationType, entries, maintain_days, plan};
use engine::db::Pool;
use engine::ids::{KeyId, ServiceId};
use formats::clock::{Clock, Timestamp};
use sqlx::PgPool;
use uuid::Uuid;

use testkit::{Database, pool};

/// The default numbers of records and days; arguments override them.
const ROWS: u64 = 10_000_000;
const DAYS: u64 = 30;

/// The maximum median time of a page of closed days, and its number of entries.
const BOUND: Duration = Duration::from_millis(50);
const PAGE: i64 = 50;

/// How much longer a page can take with today, whose records have fewer indexes: in passes over all of them.
const PASSES: u32 = 2;

const DAY: Duration = Duration::from_secs(86_400);

/// The number of queries for each page.
const ROUNDS: usize = 21;

/// The records of one day. Some services, policies and keys are frequent and some are rare. One
/// record in 50 is an error, and one in a million has a rare status or operation.
const FILL: &str = "
    INSERT INTO crypto_operations_audit
        (id, ts, request_id, application_id, api_key_id, operation_type, endpoint, policy_number, key_id,
         payload_size_bytes, response_status, response_time_ms, client_address, outcome)
    SELECT (lpad(to_hex((extract(epoch FROM ts) * 1000)::int8), 12, '0') || substr(md5(n::text), 1, 20))::uuid,
           ts, 'req-' || $3 || '-' || n,
           lpad(to_hex((1000 ^ random())::int), 32, '0')::uuid, lpad(to_hex((1000 ^ random())::int), 32, '0')::uuid,
           CASE WHEN random() < 0.000001 THEN 'verify'
                ELSE (ARRAY['encrypt', 'decrypt', 'sign', 'hash'])[1 + floor(random() * 4)] END,
           '/api/v1/operations', 'POL-' || lpad(((1000 ^ random())::int)::text, 6, '0'),
           lpad(to_hex((1000 ^ random())::int), 32, '0')::uuid, 1024,
           CASE WHEN random() < 0.000001 THEN 503 WHEN random() < 0.02 THEN 400 ELSE 200 END,
           1.5, '10.0.0.1', 'done'
      FROM (SELECT n, date_trunc('milliseconds', $1::timestamptz
                      + n * ($2::timestamptz - $1::timestamptz) / $4) AS ts
              FROM generate_series(0, $4 - 1) AS n) AS rows";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let rows = numbers.next().unwrap_or(ROWS);
    let days = numbers.next().unwrap_or(DAYS).max(1);
    let database = Database::new().await;
    let owner = database.pool().current();
    // The last second of today, when the partition of the current day is largest.
    let tomorrow = Clock::system().now().start_of_day().plus(DAY);
    let now = tomorrow.minus(Duration::from_secs(1));
    let filled = Instant::now();
    fill(&owner, now, rows / days, days).await;
    let service = pool(database.as_application());
    maintain_days(&service, now).await.expect("closed days");
    sqlx::query("VACUUM ANALYZE crypto_operations_audit").execute(&owner).await.unwrap();
    println!(
        "{} records in {days} days, generated and closed in {:.0?}; pages of {PAGE} entries, {ROUNDS} queries each",
        rows / days * days,
        filled.elapsed(),
    );
    let midnight = now.start_of_day();
    let pass = pass(&owner, midnight).await;
    println!("a pass over all records of today takes {:.1} ms\n", millis(pass));
    println!(
        "| EntryFilter | Entries | Closed days: median ms | Slowest | With today: median ms | Slowest |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    let mut plans = Vec::new();
    let mut is_slow = false;
    for (name, filter) in filters(now, days) {
        let closed = EntryFilter { to: Some(midnight), ..filter.clone() };
        let (_, [median, slowest]) = timed(&service, now, &closed).await;
        let (found, [whole_median, whole_slowest]) = timed(&service, now, &filter).await;
        println!(
            "| {name} | {found} | {:.1} | {:.1} | {:.1} | {:.1} |",
            millis(median),
            millis(slowest),
            millis(whole_median),
            millis(whole_slowest),
        );
        plans.push((name, plan(&service, now, &filter, None, PAGE).await.unwrap()));
        is_slow |= median > BOUND || whole_median > median + pass * PASSES;
    }
    for (name, plan) in plans {
        println!("\n{name}\n    {}", brief(&plan).join("\n    "));
    }
    if is_slow {
        println!("\na page took longer than {BOUND:?}, or with today {PASSES} passes longer");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Fills `days` days. The last day is today, up to `now`.
async fn fill(owner: &PgPool, now: Timestamp, rows: u64, days: u64) {
    for back in (0..days).rev() {
        let start = back_from(now.start_of_day(), back);
        let end = now.min(start.plus(DAY));
        let make = "SELECT make_audit_day(($1::timestamptz AT TIME ZONE 'UTC')::date)";
        sqlx::query(make).bind(start).execute(owner).await.unwrap();
        sqlx::query(FILL)
            .bind(start)
            .bind(end)
            .bind(back.to_string())
            .bind(i64::try_from(rows).unwrap())
            .execute(owner)
            .await
            .unwrap();
    }
}

fn back_from(moment: Timestamp, days: u64) -> Timestamp {
    moment.minus(DAY * u32::try_from(days).unwrap())
}

/// Every filter of the API, with frequent, rare and absent values.
fn filters(now: Timestamp, days: u64) -> Vec<(String, EntryFilter)> {
    let any = EntryFilter::default();
    let ago = |days| back_from(now, days);
    let service = |number| Some(ServiceId::from_uuid(Uuid::from_u128(number)));
    let key = |number| Some(KeyId::from_uuid(Uuid::from_u128(number)));
    let operation =
        |operation_type| EntryFilter { operation_type: Some(operation_type), ..any.clone() };
    let status = |status| EntryFilter { status: Some(status), ..any.clone() };
    let policy =
        |number: &str| EntryFilter { policy_number: Some(number.to_owned()), ..any.clone() };
    let request = |id: String| EntryFilter { request_id: Some(id), ..any.clone() };
    let application = |number| EntryFilter { service_id: service(number), ..any.clone() };
    let of_key = |number| EntryFilter { key_id: key(number), ..any.clone() };
    let named = [
        ("none", any.clone()),
        ("requestId, of today", request("req-0-7".to_owned())),
        ("requestId, of the oldest day", request(format!("req-{}-7", days - 1))),
        ("requestId, unknown", request("unknown".to_owned())),
        ("applicationId, frequent", application(1)),
        ("applicationId, rare", application(1_000)),
        ("applicationId, unknown", application(5_000)),
        ("operationType, frequent", operation(OperationType::Hash)),
        ("operationType, one in a million", operation(OperationType::Verify)),
        ("status, frequent", status(400)),
        ("status, one in a million", status(503)),
        ("status, unknown", status(418)),
        ("policyNumber, frequent", policy("POL-000001")),
        ("policyNumber, rare", policy("POL-001000")),
        ("policyNumber, unknown", policy("POL-999999")),
        ("keyId, frequent", of_key(1)),
        ("keyId, rare", of_key(1_000)),
        ("keyId, unknown", of_key(5_000)),
        (
            "from and to, an old day",
            EntryFilter { from: Some(ago(days)), to: Some(ago(days - 1)), ..any.clone() },
        ),
        ("applicationId and status", EntryFilter { status: Some(400), ..application(900) }),
        (
            "all at once",
            EntryFilter {
                operation_type: Some(OperationType::Sign),
                status: Some(400),
                from: Some(ago(days)),
                to: Some(now),
                ..application(5)
            },
        ),
    ];
    named.map(|(name, filter)| (name.to_owned(), filter)).into()
}

/// The number of entries of a page, and its median and maximum time.
async fn timed(db: &Pool, now: Timestamp, filter: &EntryFilter) -> (usize, [Duration; 2]) {
    let mut times = Vec::new();
    let mut found = 0;
    for _ in 0..ROUNDS {
        let asked = Instant::now();
        found = entries(db, now, filter, None, PAGE).await.unwrap().len();
        times.push(asked.elapsed());
    }
    (found, median_and_slowest(times))
}

fn median_and_slowest(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort_unstable();
    [times[ROUNDS / 2], times[ROUNDS - 1]]
}

/// The median time of a query that reads all records of a day and compares one value of each.
async fn pass(owner: &PgPool, midnight: Timestamp) -> Duration {
    let mut connection = owner.acquire().await.unwrap();
    let settings =
        "SET enable_bitmapscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;
         SET max_parallel_workers_per_gather = 0";
    sqlx::raw_sql(settings).execute(&mut *connection).await.unwrap();
    let count =
        "SELECT count(*) FROM crypto_operations_audit WHERE ts >= $1 AND application_id = $2";
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let asked = Instant::now();
        let found = sqlx::query_scalar::<_, i64>(count).bind(midnight).bind(Uuid::nil());
        assert_eq!(found.fetch_one(&mut *connection).await.unwrap(), 0);
        times.push(asked.elapsed());
    }
    connection.close().await.unwrap();
    let [median, _] = median_and_slowest(times);
    median
}

/// The plan, shortened to the first scans and the summary.
fn brief(plan: &[String]) -> Vec<&str> {
    let mut days = 0;
    let mut kept = Vec::new();
    for line in plan {
        if line.trim_start().starts_with("->") && line.contains("Scan") {
            days += 1;
        }
        let is_summary = line.starts_with("Planning") || line.starts_with("Execution");
        if days <= 2 || is_summary {
            kept.push(line.as_str());
        }
    }
    kept
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
