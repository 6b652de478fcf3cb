//! Measures the tamper-evident log of many records: sealing them, the size of the log, reading all its
//! tiles, an export, and its verification. Postgres generates the records and flushes each commit.
//! Prints a table. Fails if sealing, its memory or the verification exceeds its bound.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::db::{Pool, as_application};
use engine::ledger::verify::{self, Trust};
use engine::ledger::{self, Log, Renewal, SealStatus, Sealer};
use engine::settings::{Seal, SealAnchor};
use formats::clock::{Clock, Entropy};
use formats::tlog::{TILE_WIDTH, Tile, TileContent};
use futures_util::StreamExt as _;

use testkit::{Cluster, Scratch, pool, token};

/// The default number of records; an argument overrides it.
const ROWS: u64 = 10_000_000;

/// The minimum rates of sealing and of verification, in records each second.
const SEALED: f64 = 10_000.0;
const VERIFIED: f64 = 1_000_000.0 / 60.0;

/// The maximum growth of the memory of the process while it seals.
const MEMORY_KIB: u64 = 64 * 1_024;

const FILL: &str = "
    INSERT INTO crypto_operations_audit
        (id, ts, request_id, application_id, api_key_id, operation_type, endpoint, policy_number,
         key_id, payload_size_bytes, response_status, response_time_ms, client_address, outcome)
    SELECT (lpad(to_hex((extract(epoch FROM ts) * 1000)::int8), 12, '0') || substr(md5(n::text), 1, 20))::uuid,
           ts, 'req-' || n, md5((n % 1000)::text)::uuid, md5((n % 2000)::text)::uuid, 'encrypt',
           '/api/v1/protect', 'POL-' || lpad((n % 5000)::text, 6, '0'), md5((n % 3000)::text)::uuid,
           1024, 200, 1.5, '10.0.0.1', 'done'
      FROM (SELECT n, date_trunc('milliseconds', date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
                      - interval '1 day' + n * interval '1 day' / $2) AS ts
              FROM generate_series($1::int8, $1 + $3 - 1) AS n) AS rows";

/// The number of records of one statement.
const CHUNK: u64 = 500_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let rows = numbers.next().unwrap_or(ROWS);
    let cluster = Cluster::start().await;
    cluster.run("ALTER SYSTEM SET fsync = on").await;
    cluster.run("SELECT pg_reload_conf()").await;
    let owner = pool(cluster.past_proxy());
    let service = pool(as_application(cluster.past_proxy()));
    let time = (&Clock::system(), &Entropy::system());
    let token = token().await;
    let made = ledger::initialize(&service, &token, time, "bench", Renewal::default());
    let key = made.await.expect("a key and two logs").keys.remove(0);
    fill(&owner, rows).await;

    println!("| {rows} records | Time | Rate or size |");
    println!("|---|--:|--:|");
    let folder = Scratch::new();
    let sealing = seal(&service, &folder, rows).await;
    row("sealed", sealing.time, &rate(rows, sealing.time));
    let memory = format!("{} MiB more memory", sealing.memory_kib / 1_024);
    row("peak while sealing", sealing.time, &memory);
    for table in ["audit_log_index", "audit_log_nodes"] {
        let size = format!("SELECT pg_total_relation_size('{table}')");
        let size: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(size)).fetch_one(&owner).await.unwrap();
        println!("| table `{table}` with its indexes | | {} |", mib(size.unsigned_abs()));
    }
    let began = Instant::now();
    let (tiles, bytes) = read_tiles(&service, rows).await;
    let name = format!("all {tiles} hash tiles, read in turn");
    row(&name, began.elapsed(), &mib(bytes));
    let began = Instant::now();
    let export = folder.path().join("export");
    let bytes = write_export(&service, &export).await;
    row("export in the order of the log", began.elapsed(), &mib(bytes));
    let note = ledger::checkpoint(&service, Log::Operations).await;
    let mut trust = Trust::new(&key.to_string()).unwrap();
    trust.add(&note.unwrap().unwrap()).unwrap();
    let began = Instant::now();
    let file = BufReader::new(File::open(&export).unwrap());
    let verified = verify::export(&trust, file, None, &mut |_| ()).unwrap();
    assert_eq!(verified.covered, rows);
    let verifying = began.elapsed();
    row("verified from the export", verifying, &rate(rows, verifying));

    let is_within = per_second(rows, sealing.time) >= SEALED
        && per_second(rows, verifying) >= VERIFIED
        && sealing.memory_kib <= MEMORY_KIB;
    if !is_within {
        println!("\nsealing, its memory or the verification exceeds its bound");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Writes the records of yesterday.
async fn fill(owner: &Pool, rows: u64) {
    let make = "SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date - 1)";
    sqlx::query(make).execute(owner).await.unwrap();
    let number = |value: u64| i64::try_from(value).unwrap();
    for start in (0..rows).step_by(usize::try_from(CHUNK).unwrap()) {
        sqlx::query(FILL)
            .bind(number(start))
            .bind(number(rows) as f64)
            .bind(number(CHUNK.min(rows - start)))
            .execute(owner)
            .await
            .unwrap();
    }
}

struct Sealing {
    time: Duration,
    /// The growth of the memory of this process.
    memory_kib: u64,
}

/// Seals all records.
async fn seal(service: &Pool, folder: &Scratch, rows: u64) -> Sealing {
    let settings = Seal {
        anchor: Some(SealAnchor::File(folder.path().join("anchor.json"))),
        ..Seal::default()
    };
    let status = SealStatus::new(Clock::system(), settings.interval.0);
    let sealer = Sealer::new(service.clone(), token().await, &settings, status.clone());
    let mut sealer = sealer.expect("settings in order");
    let before = resident_kib();
    let began = Instant::now();
    let job = tokio::spawn(async move { match sealer.run(testkit::pulse()).await {} });
    let mut peak = before;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        peak = peak.max(resident_kib());
        let logs = status.logs();
        let log = logs.iter().find(|it| it.log == Log::Operations);
        if log.is_some_and(|it| it.checkpoint_size == rows) {
            break;
        }
    }
    let time = began.elapsed();
    job.abort();
    Sealing { time, memory_kib: peak - before }
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().split_whitespace().next().unwrap();
    number.parse().unwrap()
}

/// The number of hash tiles of the log, and the sum of their bytes.
async fn read_tiles(service: &Pool, rows: u64) -> (u64, u64) {
    let (mut count, mut bytes) = (0, 0);
    let (mut level, mut width) = (0, rows);
    while width > 0 {
        for index in 0..width.div_ceil(TILE_WIDTH) {
            let tile = Tile::in_tree(TileContent::Hashes(level), index, rows).unwrap();
            let hashes = ledger::tile(service, Log::Operations, &tile).await;
            bytes += hashes.unwrap().unwrap().len() as u64;
            count += 1;
        }
        level += 1;
        width /= TILE_WIDTH;
    }
    (count, bytes)
}

async fn write_export(service: &Pool, path: &std::path::Path) -> u64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut bytes = 0;
    let mut pieces = std::pin::pin!(ledger::Export::new(service.clone(), Log::Operations).pieces());
    while let Some(piece) = pieces.next().await {
        let piece = piece.expect("an export");
        bytes += piece.len() as u64;
        file.write_all(&piece).unwrap();
    }
    file.flush().unwrap();
    bytes
}

fn row(name: &str, time: Duration, figure: &str) {
    println!("| {name} | {:.1} s | {figure} |", time.as_secs_f64());
}

fn per_second(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

fn rate(count: u64, time: Duration) -> String {
    format!("{:.0} records/s", per_second(count, time))
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes / 1_024 / 1_024)
}
