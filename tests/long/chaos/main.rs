//! Long runs of `testkit::chaos`: faults in an order that a seed determines, under load,
//! and a checker that reads the whole history afterwards. Prints the seed, the order of faults, the
//! figures, and all violations with their evidence.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

use std::process::ExitCode;
use std::time::Duration;

use testkit::chaos::plan::Plan;
use testkit::chaos::run::{Size, run};

/// How many violations are shown.
const SHOWN: usize = 20;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    let size = Size {
        faults: Duration::from_secs_f64(arguments.minutes * 60.0),
        instances: 3,
        workers: 8,
    };
    let mut violated = Vec::new();
    for number in 0..arguments.runs {
        let seed = arguments.seed.wrapping_add(number);
        let plan = Plan::of(seed, size.faults, size.instances);
        println!("run {} of {}, {plan}", number + 1, arguments.runs);
        let ran = run(&plan, size).await;
        println!("{}  {}", ran.events, ran.figures);
        if ran.violations.is_empty() {
            println!("  all guarantees hold\n");
            continue;
        }
        println!("  {} violations", ran.violations.len());
        for violation in ran.violations.iter().take(SHOWN) {
            println!("    {violation}");
        }
        println!("  warnings and errors of the instances:");
        for warning in &ran.warnings {
            println!("    {warning}");
        }
        println!();
        violated.push(seed);
    }
    if violated.is_empty() {
        println!("runs: {}; all guarantees hold", arguments.runs);
        return ExitCode::SUCCESS;
    }
    println!("guarantees were violated with these seeds: {violated:?}");
    ExitCode::FAILURE
}

struct Arguments {
    seed: u64,
    minutes: f64,
    runs: u64,
}

impl Arguments {
    fn read() -> Self {
        let mut read = Self { seed: rand::random::<u32>().into(), minutes: 1.0, runs: 1 };
        let mut given = std::env::args().skip(1);
        while let Some(name) = given.next() {
            let mut value = || {
                let value = given.next();
                value.unwrap_or_else(|| panic!("{name} wants a number"))
            };
            match name.as_str() {
                "--seed" => read.seed = value().parse().expect("a number"),
                "--minutes" => read.minutes = value().parse().expect("a number"),
                "--runs" => read.runs = value().parse().expect("a number"),
                // What cargo adds.
                "--bench" => {}
                other => panic!("there is no {other}: --seed N --minutes M --runs R"),
            }
        }
        read
    }
}
