//! `sealward completions`: prints a completion script.

use std::io::{self, Write as _};

use clap::Command;
use clap_complete::Shell;

use super::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(mut command: Command, arguments: &Arguments) -> Result<(), Failure> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "sealward", &mut script);
    Ok(io::stdout().write_all(&script)?)
}
