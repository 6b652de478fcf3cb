//! What the service is delivered in, held against the service: no image is built and no unit is
//! started here, but paths, ports, packages and settings must be those of the code.

mod balancer;
mod cluster_home;
mod compose;
mod context;
mod dockerfile;
mod image;
mod unit;

use std::path::Path;
use std::process::Command;

use clap::Parser as _;
use sealward::command::Arguments;
use sealward::settings::{Environment, Settings};

/// The top of the repository.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Settings of that file, if it is one that the service accepts.
fn settings(path: &str) -> Settings {
    let loaded = Settings::load(Some(&top().join(path)), &Environment::default());
    loaded.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// These words are a command of the service.
#[track_caller]
fn assert_is_a_command(words: &[impl AsRef<str>]) {
    let words = words.iter().map(AsRef::as_ref);
    if let Err(error) = Arguments::try_parse_from(words) {
        panic!("{error}");
    }
}

/// Runs a command that must succeed.
#[track_caller]
fn succeed(command: &mut Command) {
    let output = command.output().expect("run a command");
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        said[0],
        said[1]
    );
}
