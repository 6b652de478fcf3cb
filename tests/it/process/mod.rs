//! The binary itself, as an operator runs it: on a site of its own, with a token and a database
//! that no other test knows.

mod ended;
mod running;
mod site;

use std::process::Command;
use std::time::Duration;

pub(crate) use self::ended::Ended;
pub(crate) use self::running::Process;
pub(crate) use self::site::{LABEL, Site};

/// For everything that is waited for; a machine under load takes its time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the binary with these arguments to its end, with nothing in its environment and no site.
pub(crate) fn sealward(arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealward"));
    let output = command.args(arguments).env_clear().output();
    output.expect("run the binary").into()
}
