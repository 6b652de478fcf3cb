//! The deployment files match the code: paths, ports, packages and settings. The tests build no images
//! and start no units.

mod balancer;
mod cluster_home;
mod compose;
mod context;
mod dockerfile;
mod features;
mod image;
mod kubernetes;
mod unit;

use std::path::Path;
use std::process::Command;

use clap::Parser as _;
use engine::settings::{Environment, Settings};
use sealward::command::Arguments;

/// The root of the repository.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The settings of a file, which the service must accept.
fn settings(path: &str) -> Settings {
    let loaded = Settings::load(Some(&top().join(path)), &Environment::default());
    loaded.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Asserts that these words are a valid command.
#[track_caller]
fn assert_is_a_command(words: &[impl AsRef<str>]) {
    let words = words.iter().map(AsRef::as_ref);
    if let Err(error) = Arguments::try_parse_from(words) {
        panic!("{error}");
    }
}

/// Runs a command and asserts its success.
#[track_caller]
fn succeed(command: &mut Command) {
    let output = command.output().expect("run a command");
    let values = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{command:?}: {}\n{}", values[0], values[1]);
}
