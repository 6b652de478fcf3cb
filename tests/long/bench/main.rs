//! Measures the service and its baselines: an echo server, the token alone and a commit alone.
//! `tests/long/bench/run` builds and starts it.
//!
//! It sends every operation to the release binary over HTTP, with authentication, policy and durable
//! audit. Compare CPU time per request: rates vary on a busy machine, CPU time does not. The output
//! is a set of tables, the targets, a chart and a JSON file.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

mod baseline;
mod baselines;
mod cases;
mod chart;
mod cpu;
mod flush;
mod generator;
mod instance;
mod measure;
mod one_session;
mod profile;
mod report;
mod resources;
mod rounds;
mod scale;
mod sealing;
mod targets;
mod transit;

use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use cases::{KIB, cases};
use cpu::Machine;
use instance::Instance;
use rounds::{Baselines, measured};
use testkit::Site;

/// The number of rounds, and the duration of one measurement.
const WHOLE: (usize, Duration) = (5, Duration::from_secs(2));
const QUICK: (usize, Duration) = (3, Duration::from_millis(1_200));

/// The folder of the results, relative to the root of the repository.
const RESULTS: &str = "target/bench";

fn main() {
    // Cargo adds --bench.
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["echo"] => baselines::echo(),
        ["recorder", database] => baselines::recorder(database),
        [] => run(bench(WHOLE, false)),
        ["--quick"] => run(bench(QUICK, true)),
        ["profile", operation] => run(profile::print(operation, KIB)),
        ["profile", operation, bytes] => {
            let bytes = bytes.parse().expect("a number of bytes");
            run(profile::print(operation, bytes));
        }
        ["sealing"] => run(sealing::print(WHOLE.1)),
        ["transit"] => run(transit::print(WHOLE.1)),
        ["fairness"] => run(scale::run(Some("fairness"))),
        ["scale"] => run(scale::run(None)),
        ["scale", name] => run(scale::run(Some(name))),
        _ => panic!(
            "usage: ./dev bench [--quick | fairness | scale [NAME] | sealing | transit | profile OPERATION [BYTES]]"
        ),
    }
}

async fn bench((rounds, span): (usize, Duration), is_quick: bool) {
    let machine = Machine::now();
    let site = Site::new().await;
    let mut baselines = Baselines::build(&site).await;
    let instance = Instance::start(&site).await;
    let kryoptic = Site::on_kryoptic().await;
    let on_kryoptic = Instance::start_on_kryoptic(&kryoptic).await;
    let instances = (&instance, &on_kryoptic);
    let results = measured(&mut baselines, instances, &cases(is_quick), rounds, span);
    let callers = instance.callers.clone();
    drop((instance, on_kryoptic));
    let one_session = one_session::measured(&site, &callers, &mut baselines, span).await;
    let resources = resources::measured(&site, &callers, &mut baselines, span).await;
    let sealing = sealing::measured(&baselines, span).await;
    let transit = transit::measured(&baselines, span).await;
    let more = (&resources, &one_session, &sealing, &transit);
    let targets = targets::reached(&results, more);

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RESULTS);
    fs::create_dir_all(&folder).expect("a folder for the results");
    let report = report::markdown(&results, &resources, &sealing, &targets);
    println!("{report}");
    let stolen = machine.stolen_since();
    println!("The hypervisor took {stolen:.1} % of the busy CPU time (steal).");
    let mut json = report::json(&results, &resources, &targets, (rounds, span));
    json["stolenPercent"] = stolen.into();
    json["oneSession"] = one_session.json();
    json["sealing"] = sealing.json();
    fs::write(folder.join("bench.md"), report).expect("write the table");
    fs::write(folder.join("bench.json"), format!("{json:#}\n")).expect("write the numbers");
    fs::write(folder.join("bench.svg"), chart::svg(&results)).expect("write the chart");
    println!("\nwritten to {RESULTS}: bench.md, bench.json, bench.svg");
}

fn run(what: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(what);
}
