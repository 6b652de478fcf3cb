//! Whether the service stays as it is while it works at half of what it can: its memory, its threads,
//! its descriptors, its sessions of the token and its connections to Postgres. Clients come and go,
//! and administrators change things, all the time. Prints a table over time.
//!
//! The token is one of kryoptic's. With `--softhsm` it is one of SoftHSM2's, whose 2.6 keeps every
//! session object that was destroyed until the module is finalized, and unwrapping by ECDH makes one:
//! memory then grows with the requests, and what is found is SoftHSM2's.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    unused_imports,
    reason = "a check with the support of the integration tests"
)]

#[path = "../it/chaos/mod.rs"]
mod chaos;
mod gauge;
mod load;
#[path = "../it/process/mod.rs"]
mod process;
#[path = "../it/support/mod.rs"]
mod support;

use std::process::ExitCode;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, sleep};

use chaos::administrator::Administrator;
use chaos::check::violations;
use chaos::client::Places;
use chaos::faults::by_administrator;
use chaos::fixtures::Fixtures;
use chaos::instances::Instances;
use chaos::plan::{Demand, Step};
use chaos::run::rows;
use chaos::run_log::RunLog;
use chaos::worker::Worker;
use gauge::{Gauge, Line};
use load::Load;
use process::Site;
use support::{Cluster, Valkey};

/// Clients that ask at the same time.
const CLIENTS: u64 = 16;

/// How long it is measured what the service can.
const CAPACITY: Duration = Duration::from_secs(15);

/// Between two changes by an administrator.
const CHANGES: Duration = Duration::from_secs(5);

/// What memory may grow by, from the end of the warm-up to the end.
const GROWTH: f64 = 0.05;

/// Lines of the table.
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
    let mut dice = SmallRng::seed_from_u64(rand::random());
    let mut new_dice = || SmallRng::seed_from_u64(dice.random());
    let mut admin = Administrator::new(places.clone(), site.admin_key(), new_dice());
    let fixtures = Fixtures::create(&mut admin, &run_log).await;
    let mut new_clients = |phase: &str| -> Vec<Worker> {
        let names = (0..CLIENTS).map(|number| format!("soak-{phase}-{number}"));
        let worker = |name| {
            let (places, fixtures) = (places.clone(), fixtures.clone());
            Worker::new(name, new_dice(), places, fixtures, run_log.clone())
        };
        names.map(worker).collect()
    };

    let answered = Load::start(new_clients("capacity"), None)
        .last(CAPACITY)
        .await;
    let capacity = f64::from(answered) / CAPACITY.as_secs_f64();
    println!(
        "{CLIENTS} clients that do not wait: {capacity:.0} requests a second; half of it for {length:?}\n"
    );
    let process = instances.process(0).expect("an instance");
    let mut gauge = Gauge::of(process, &cluster, &run_log).await;
    sleep(Duration::from_secs(3)).await;
    let before = gauge.read().await;
    let load = Load::start(new_clients("half"), Some(capacity / 2.0));
    println!("{}", Line::HEAD);
    println!("{}", before.row("at rest"));
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
    let demands = by_administrator(&mut admin, &fixtures, &run_log, &steps, until);
    tokio::join!(measure, demands);
    load.end().await;
    // What clients have closed is closed here soon.
    let mut after = gauge.read().await;
    let began = Instant::now();
    while after.beside_postgres() > before.beside_postgres() && began.elapsed() < process::PATIENCE
    {
        sleep(Duration::from_secs(1)).await;
        after = gauge.read().await;
    }
    println!("{}\n", after.row("at rest"));
    instances.end(0).await;

    let mut entries = std::mem::take(&mut *run_log.lock());
    entries.history.instances = 1;
    entries.history.rows = rows(&cluster).await;
    let mut broken: Vec<String> = violations(&entries.history)
        .iter()
        .map(ToString::to_string)
        .collect();
    broken.extend(entries.broken.iter().map(ToString::to_string));
    broken.extend(gauge::complaints(&before, &lines, &after, GROWTH));
    println!(
        "{} requests, {} rows of the trail, {} changes; memory grew by {:.1} % after the warm-up",
        entries.history.attempts.len(),
        entries.history.rows.len(),
        entries.events.len(),
        gauge::growth(&lines) * 100.0,
    );
    for complaint in broken.iter().take(20) {
        println!("{complaint}");
    }
    if broken.is_empty() {
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
                // What cargo adds.
                "--bench" => {}
                other => panic!("there is no {other}: --minutes M --softhsm"),
            }
        }
        Self {
            length: Duration::from_secs_f64(minutes * 60.0),
            on_softhsm,
        }
    }
}

/// One change after the other, of every kind in turn.
fn changes(length: Duration) -> Vec<Step<Demand>> {
    let number = usize::try_from(length.as_secs() / CHANGES.as_secs()).expect("some");
    let kinds = |which| match which % 5 {
        0 => Demand::RevokeApiKey(which),
        1 => Demand::TurnPolicy(which),
        2 => Demand::TurnKey(which),
        3 => Demand::ReplacePolicy,
        _ => Demand::NewEnvelopeKey(which),
    };
    let steps = (0..number).map(|which| Step {
        after: CHANGES,
        what: kinds(which),
        lasts: Duration::ZERO,
    });
    steps.collect()
}
