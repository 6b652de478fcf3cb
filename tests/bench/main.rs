//! How fast the service is, beside what bounds it: the wire, the token and the disk.
//! `tests/bench/run` builds what it needs and starts it; [`docs/performance.md`] tells what came of it.
//!
//! Every operation is asked of the binary that is shipped, over HTTP, with authentication, policy
//! and durable audit. Processor time a request is what to look at: it holds on a noisy machine,
//! where rates do not. Prints tables, and writes them with a chart to a folder.
//!
//! [`docs/performance.md`]: ../../docs/performance.md
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    unused_imports,
    reason = "a check with the support of the integration tests"
)]

mod cases;
mod chart;
mod cpu;
mod floors;
mod flush;
mod generator;
mod helper;
mod measure;
mod place;
#[path = "../it/process/mod.rs"]
mod process;
mod profile;
mod report;
mod rounds;
mod scale;
mod settled;
#[path = "../it/support/mod.rs"]
mod support;
mod targets;

use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use cases::{KIB, cases};
use cpu::Machine;
use place::Place;
use process::Site;
use rounds::{Floors, measured};

/// Rounds, and how long each measurement takes in each.
const WHOLE: (usize, Duration) = (5, Duration::from_secs(2));
const QUICK: (usize, Duration) = (3, Duration::from_millis(1_200));

/// Where the results go, from the top of the repository.
const RESULTS: &str = "target/bench";

fn main() {
    // What cargo adds itself.
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["echo"] => floors::echo(),
        ["recorder", database] => floors::recorder(database),
        [] => run(bench(WHOLE, false)),
        ["--quick"] => run(bench(QUICK, true)),
        ["profile", operation] => run(profile::print(operation, KIB)),
        ["profile", operation, bytes] => {
            let bytes = bytes.parse().expect("a number of bytes");
            run(profile::print(operation, bytes));
        }
        ["scale"] => run(scale::all(None)),
        ["scale", name] => run(scale::all(Some(name))),
        _ => panic!("usage: ./dev bench [--quick | scale [NAME] | profile OPERATION [BYTES]]"),
    }
}

async fn bench((rounds, span): (usize, Duration), is_quick: bool) {
    let machine = Machine::now();
    let site = Site::new().await;
    let mut floors = Floors::build(&site).await;
    let place = Place::arrange(&site).await;
    let results = measured(&mut floors, &place, &cases(is_quick), rounds, span);
    let callers = place.callers.clone();
    drop(place);
    let settled = settled::measured(&site, &callers, &mut floors, span).await;
    let targets = targets::reached(&results, &settled);

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RESULTS);
    fs::create_dir_all(&folder).expect("a folder for the results");
    let report = report::markdown(&results, &settled, &targets);
    println!("{report}");
    let stolen = machine.stolen_since();
    println!(
        "Of the time that the processors had work, {stolen:.1} % was given to other machines."
    );
    let mut json = report::json(&results, &settled, &targets, (rounds, span));
    json["stolenPercent"] = stolen.into();
    fs::write(folder.join("bench.md"), report).expect("write the table");
    fs::write(folder.join("bench.json"), format!("{json:#}\n")).expect("write the numbers");
    fs::write(folder.join("bench.svg"), chart::drawn(&results)).expect("write the chart");
    println!("\nin {RESULTS}: bench.md, bench.json, bench.svg");
}

fn run(what: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(what);
}
