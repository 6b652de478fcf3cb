//! Measures the tamper-evident log of many records: sealing them, sealing at the rate of a busy service, the
//! size of the log, reading all its tiles, an export, and its verification. The audit writer writes the
//! records, in transactions as at 64 connections. Postgres flushes each commit. Prints a table. Fails if
//! sealing, its memory or the verification exceeds its bound, or if sealing scans a table as a whole.
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
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use engine::audit::{EntryFilter, Recorder, entries};
use engine::db::{Pool, as_application};
use engine::ledger::verify::{self, Trust};
use engine::ledger::{self, Log, Renewal, SealStatus, Sealer};
use engine::settings::{Audit, Seal, SealAnchor};
use formats::clock::{Clock, Entropy};
use formats::tlog::{TILE_WIDTH, Tile, TileContent};
use futures_util::StreamExt as _;
use sqlx::postgres::PgConnectOptions;
use uuid::Uuid;

use testkit::{Cluster, Scratch, pool, protect_record, token};

/// The default number of records; an argument overrides it.
const ROWS: u64 = 10_000_000;

/// The records of one transaction.
const TRANSACTION: u64 = 35;

/// How many records each second are written while the sealer runs, and for how long.
const LIVE_RATE: u64 = 20_000;
const LIVE_SECONDS: u64 = 60;

/// The minimum rates of sealing and of verification, in records each second.
const SEALED: f64 = 20_000.0;
const VERIFIED: f64 = 1_000_000.0 / 60.0;

/// The maximum part of a core that the sealer and its connections use at the live rate, and how long after
/// the last record a checkpoint covers it.
const LIVE_CORES: f64 = 1.0 / 3.0;
const LIVE_DELAY: Duration = Duration::from_secs(5);

/// How many records are proven, and how many pages are read.
const LOOK_UPS: u64 = 1_000;

/// The maximum growth of the memory of the process while it seals.
const MEMORY_KIB: u64 = 64 * 1_024;

/// The name of the sealer's thread, and of its connections.
const SEALER: &str = "sealer";

/// The tables whose sequential scans are counted. Autovacuum reads each record at most once, for the index of values.
const RECORDS: &str = "^crypto_operations_audit";
const OTHERS: &str = "^audit_log_(segments|positions|nodes)";

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
    let (recorder, mut writer) =
        Recorder::open(Clock::system(), Entropy::system(), service.clone(), &Audit::default());
    tokio::spawn(async move { writer.run(testkit::pulse()).await });

    println!("| {rows} records | Time | Rate or size |");
    println!("|---|--:|--:|");
    let live = (LIVE_RATE * LIVE_SECONDS).min(rows / 2);
    let backlog = rows - live;
    let began = Instant::now();
    write(&recorder, backlog, None).await;
    row(
        "written by the audit writer, one transaction at a time",
        began.elapsed(),
        &rate(backlog, began.elapsed()),
    );

    let folder = Scratch::new();
    let before = resident_kib();
    let began = Instant::now();
    start_sealer(&folder, cluster.past_proxy());
    let mut peak = covered(&service, backlog).await;
    let sealing = began.elapsed();
    row("sealed", sealing, &rate(backlog, sealing));

    let cpu = sealer_cpu(&owner).await;
    let began = Instant::now();
    write(&recorder, live, Some(LIVE_RATE)).await;
    let writing = began.elapsed();
    let began = Instant::now();
    peak = peak.max(covered(&service, rows).await);
    let delay = began.elapsed();
    let cores = (sealer_cpu(&owner).await - cpu).as_secs_f64() / writing.as_secs_f64();
    row("written while the sealer runs", writing, &rate(live, writing));
    row("from the last record to its checkpoint", delay, "");
    row("CPU of the sealer and its connections meanwhile", writing, &format!("{cores:.2} cores"));
    let memory_kib = peak.saturating_sub(before);
    row("peak while sealing", sealing, &format!("{} MiB more memory", memory_kib / 1_024));
    for table in ["audit_log_segments", "audit_log_positions", "audit_log_nodes"] {
        let size = format!("SELECT pg_total_relation_size('{table}')");
        let size: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(size)).fetch_one(&owner).await.unwrap();
        println!("| table `{table}` with its indexes | | {} |", mib(size.unsigned_abs()));
    }
    let [scanned_records, scanned_others] =
        [scanned(&owner, RECORDS).await, scanned(&owner, OTHERS).await];
    println!(
        "| rows that sequential scans read meanwhile | | {scanned_records} records, {scanned_others} others |"
    );
    let began = Instant::now();
    let (tiles, bytes) = read_tiles(&service, rows).await;
    let name = format!("all {tiles} hash tiles, read in turn");
    row(&name, began.elapsed(), &mib(bytes));
    look_up(&owner, &service).await;
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

    let keeps_up = per_second(live, writing) >= LIVE_RATE as f64 * 0.99 && delay <= LIVE_DELAY;
    let is_within = per_second(backlog, sealing) >= SEALED
        && per_second(rows, verifying) >= VERIFIED
        && memory_kib <= MEMORY_KIB
        && scanned_records <= rows
        && scanned_others < rows / TRANSACTION
        && keeps_up
        && cores <= LIVE_CORES;
    if !is_within {
        println!("\nsealing, its memory, its scans or the verification exceeds its bound");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Writes records in transactions, at this many records each second or as fast as it can.
async fn write(recorder: &Recorder, records: u64, rate: Option<u64>) {
    let began = Instant::now();
    let mut written = 0;
    while written < records {
        let count = TRANSACTION.min(records - written);
        let submit = |_| recorder.submit(protect_record(Duration::ZERO)).expect("a place");
        let pending: Vec<_> = (0..count).map(submit).collect();
        for pending in pending {
            pending.receipt().await.expect("a receipt");
        }
        written += count;
        if let Some(rate) = rate {
            let due = Duration::from_secs_f64(written as f64 / rate as f64);
            // Even a sleep of no time takes up to 1 ms.
            if let Some(early) = due.checked_sub(began.elapsed()) {
                tokio::time::sleep(early).await;
            }
        }
    }
}

/// Runs the sealer on its own thread and with its own connections.
fn start_sealer(folder: &Scratch, database: PgConnectOptions) {
    let settings = Seal {
        anchor: Some(SealAnchor::File(folder.path().join("anchor.json"))),
        ..Seal::default()
    };
    let status = SealStatus::new(Clock::system(), settings.interval.0);
    let seal = async move {
        let service = pool(as_application(database.application_name(SEALER)));
        let sealer = Sealer::new(service, token().await, &settings, status);
        let mut sealer = sealer.expect("settings in order");
        match sealer.run(testkit::pulse()).await {}
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let run = move || runtime.expect("a runtime").block_on(seal);
    thread::Builder::new().name(SEALER.to_owned()).spawn(run).expect("a thread");
}

/// Waits until a checkpoint covers these records. Returns the maximum of the process's memory in KiB.
async fn covered(service: &Pool, records: u64) -> u64 {
    let mut peak = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        peak = peak.max(resident_kib());
        let note = ledger::checkpoint(service, Log::Operations).await.expect("the log");
        if note.is_some_and(|note| note.lines().nth(1) == Some(&records.to_string())) {
            return peak;
        }
    }
}

/// The CPU time of the sealer's thread and of the processes of its connections.
async fn sealer_cpu(owner: &Pool) -> Duration {
    let pids = "SELECT pid FROM pg_stat_activity WHERE application_name IN ($1, 'sealward ' || $1)";
    let pids: Vec<i32> =
        sqlx::query_scalar(pids).bind(SEALER).fetch_all(owner).await.expect("connections");
    let thread = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let thread =
        thread.filter(|task| fs::read_to_string(task.join("comm")).unwrap().trim() == SEALER);
    let connections = pids.iter().map(|pid| PathBuf::from(format!("/proc/{pid}")));
    thread.chain(connections).map(|task| cpu(&task.join("stat"))).sum()
}
/// The CPU time in a file `stat` of `/proc`, whose unit is 10 ms.
fn cpu(stat: &Path) -> Duration {
    let text = fs::read_to_string(stat).unwrap();
    // The name before may hold spaces and brackets.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let [user, system] = [11, 12].map(|field: usize| fields[field].parse::<u64>().unwrap());
    Duration::from_millis((user + system) * 10)
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().split_whitespace().next().unwrap();
    number.parse().unwrap()
}

/// The rows of these tables that sequential scans have read.
async fn scanned(owner: &Pool, tables: &str) -> u64 {
    let read =
        "SELECT coalesce(sum(seq_tup_read), 0)::int8 FROM pg_stat_user_tables WHERE relname ~ $1";
    let read: i64 = sqlx::query_scalar(read).bind(tables).fetch_one(owner).await.unwrap();
    read.unsigned_abs()
}

/// Proves some records of all of the log, and reads pages of the newest ones.
async fn look_up(owner: &Pool, service: &Pool) {
    let records = records_of(owner).await;
    let began = Instant::now();
    for record in &records {
        ledger::prove(service, Log::Operations, *record).await.expect("a proof");
    }
    let proving = began.elapsed();
    row("proofs of records", proving, &format!("{:.0} proofs/s", per_second(LOOK_UPS, proving)));
    let (filter, now) = (EntryFilter::default(), Clock::system().now());
    let began = Instant::now();
    for _ in 0..LOOK_UPS {
        let page = entries(service, now, &filter, None, 50).await.expect("a page");
        assert!(page.iter().all(|entry| entry.log_index.is_some()));
    }
    let reading = began.elapsed();
    let pages = format!("{:.0} pages/s", per_second(LOOK_UPS, reading));
    row("pages of 50 records with their positions", reading, &pages);
}

async fn records_of(owner: &Pool) -> Vec<Uuid> {
    let some =
        "SELECT ids[1] FROM audit_log_segments WHERE log = 1 ORDER BY md5(id::text) LIMIT $1";
    let some = sqlx::query_scalar(some).bind(LOOK_UPS.cast_signed()).fetch_all(owner).await;
    some.expect("records")
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

async fn write_export(service: &Pool, path: &Path) -> u64 {
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
