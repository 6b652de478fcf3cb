//! Runs the binary like an operator: each site has its own token and database, which no other test
//! uses.

mod exit;
mod running;
mod site;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use self::exit::Exit;
pub use self::running::Process;
pub use self::site::{LABEL, Site};

/// The binary that Cargo built with this test or bench, one folder above it.
pub fn program() -> PathBuf {
    let this = env::current_exe().expect("the path of this program");
    let folder = this.parent().and_then(Path::parent).expect("a folder");
    folder.join("sealward")
}

/// Runs the binary with these arguments until it exits, with an empty environment and without a site.
pub fn sealward(arguments: &[&str]) -> Exit {
    let output = Command::new(program()).args(arguments).env_clear().output();
    output.expect("run the binary").into()
}
