//! Runs the binary like an operator: each site has its own token and database, which no other test
//! uses.

mod exit;
mod running;
mod site;

use std::process::Command;

pub(crate) use self::exit::Exit;
pub(crate) use self::running::Process;
pub(crate) use self::site::{LABEL, Site};

/// Runs the binary with these arguments until it exits, with an empty environment and without a site.
pub(crate) fn sealward(arguments: &[&str]) -> Exit {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealward"));
    let output = command.args(arguments).env_clear().output();
    output.expect("run the binary").into()
}
