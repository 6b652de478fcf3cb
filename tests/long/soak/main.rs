//! Runs the service at half of its capacity and checks for leaks: memory, threads, descriptors, token
//! sessions and Postgres connections. Clients reconnect and administrators change resources during
//! the run. Prints a table over time.
//!
//! The token is kryoptic, or SoftHSM2 with `--softhsm`. SoftHSM2 2.6 frees destroyed session objects
//! only when the module is finalized, and each ECDH unwrap creates one. Memory then grows with the
//! number of requests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

mod gauge;
mod load;

use std::process::ExitCode;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, sleep};

use gauge::{Gauge, Line};
use load::Load;
use testkit::Site;
use testkit::chaos::administrator::Administrator;
use testkit::chaos::changes::by_administrator;
use testkit::chaos::check::violations;
use testkit::chaos::client::Places;
use testkit::chaos::fixtures::Fixtures;
use testkit::chaos::instances::Instances;
use testkit::chaos::plan::{AdminChange, Step};
use testkit::chaos::run::rows;
use testkit::chaos::run_log::RunLog;
use testkit::chaos::worker::Worker;
use testkit::{Cluster, Valkey};

/// The number of concurrent clients.
const CLIENTS: u64 = 16;

/// The duration of the capacity measurement.
const CAPACITY: Duration = Duration::from_secs(15);

/// The interval between two changes by an administrator.
const CHANGES: Duration = Duration::from_secs(5);

/// The maximum growth of memory after the warm-up.
const GROWTH: f64 = 0.05;

/// The number of rows of the table.
const LINES: u32 = 30;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let Arguments { length, on_softhsm } = Arguments::read();
    let cluster = Cluster::start().await;
    let valkey = Valkey::start().await;
    let site = if on_softhsm {
        Site::with_faults_over(cluster.through_proxy(), &valkey.section())
    } else {
        Site::on_kryoptic_over(cluster.through_proxy(), &valkey.section())
    };
    let run_log = RunLog::begin();
    let places = Places::default();
    let mut instances = Instances::start(&site, &places, &run_log, 1).await;
    let mut seeds = SmallRng::seed_from_u64(rand::random());
    let mut new_rng = || SmallRng::seed_from_u64(seeds.random());
    let mut admin = Administrator::new(places.clone(), site.admin_key(), new_rng());
    let fixtures = Fixtures::create(&mut admin, &run_log).await;
    let mut new_clients = |phase: &str| -> Vec<Worker> {
        let names = (0..CLIENTS).map(|number| format!("soak-{phase}-{number}"));
        let worker = |name| {
            let (places, fixtures) = (places.clone(), fixtures.clone());
            Worker::new(name, new_rng(), places, fixtures, run_log.clone())
        };
        names.map(worker).collect()
    };

    let answered = Load::start(new_clients("capacity"), None).last(CAPACITY).await;
    let capacity = f64::from(answered) / CAPACITY.as_secs_f64();
    println!(
        "capacity with {CLIENTS} clients: {capacity:.0} requests per second; load: half of it for {length:?}\n"
    );
    let process = instances.process(0).expect("an instance");
    let mut gauge = Gauge::of(process, &cluster, &run_log).await;
    sleep(Duration::from_secs(3)).await;
    let before = gauge.read().await;
    let load = Load::start(new_clients("half"), Some(capacity / 2.0));
    println!("{}", Line::HEAD);
    println!("{}", before.row("idle"));
    let steps = changes(length);
    let until = run_log.now() + length;
    let mut lines = Vec::new();
    let measure = async {
        for number in 1..=LINES {
            sleep(length / LINES).await;
            let line = gauge.read().await;
            let minutes = length.as_secs_f64() / 60.0 * f64::from(number) / f64::from(LINES);
            println!("{}", line.row(&format!("{minutes:.1} min")));
            lines.push(line);
        }
    };
    let admin_changes = by_administrator(&mut admin, &fixtures, &run_log, &steps, until);
    tokio::join!(measure, admin_changes);
    load.end().await;
    // The service closes connections soon after the clients.
    let mut after = gauge.read().await;
    let began = Instant::now();
    while after.other_descriptors() > before.other_descriptors()
        && began.elapsed() < testkit::PATIENCE
    {
        sleep(Duration::from_secs(1)).await;
        after = gauge.read().await;
    }
    println!("{}\n", after.row("idle"));
    instances.end(0).await;

    let mut entries = std::mem::take(&mut *run_log.lock());
    entries.history.instances = 1;
    entries.history.rows = rows(&cluster).await;
    let mut failures: Vec<String> =
        violations(&entries.history).iter().map(ToString::to_string).collect();
    failures.extend(entries.violated.iter().map(ToString::to_string));
    failures.extend(gauge::failures(&before, &lines, &after, GROWTH));
    println!(
        "{} requests, {} audit records, {} changes; memory grew by {:.1} % after the warm-up",
        entries.history.attempts.len(),
        entries.history.rows.len(),
        entries.events.len(),
        gauge::growth(&lines) * 100.0,
    );
    for failure in failures.iter().take(20) {
        println!("{failure}");
    }
    if failures.is_empty() {
        println!("no error, nothing leaked, and all guarantees hold");
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}

struct Arguments {
    length: Duration,
    on_softhsm: bool,
}

impl Arguments {
    fn read() -> Self {
        let (mut minutes, mut on_softhsm) = (30.0, false);
        let mut given = std::env::args().skip(1);
        while let Some(name) = given.next() {
            match name.as_str() {
                "--minutes" => {
                    let value = given.next().expect("a number of minutes");
                    minutes = value.parse().expect("a number");
                }
                "--softhsm" => on_softhsm = true,
                // Cargo adds --bench.
                "--bench" => {}
                other => panic!("unknown argument {other}; known: --minutes M --softhsm"),
            }
        }
        Self { length: Duration::from_secs_f64(minutes * 60.0), on_softhsm }
    }
}

/// The changes, each kind in turn.
fn changes(length: Duration) -> Vec<Step<AdminChange>> {
    let number = usize::try_from(length.as_secs() / CHANGES.as_secs()).expect("some");
    let kinds = |which| match which % 5 {
        0 => AdminChange::RevokeApiKey(which),
        1 => AdminChange::TogglePolicy(which),
        2 => AdminChange::ToggleKey(which),
        3 => AdminChange::ReplacePolicy,
        _ => AdminChange::NewEnvelopeKey(which),
    };
    let steps =
        (0..number).map(|which| Step { after: CHANGES, what: kinds(which), lasts: Duration::ZERO });
    steps.collect()
}
