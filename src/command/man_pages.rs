//! `sealward man-pages`: writes one man page for each command.

use std::path::PathBuf;

use clap::Command;

use super::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder. It must exist.
    folder: PathBuf,
}

pub(super) fn run(command: Command, arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    clap_mangen::generate_to(command, folder).map_err(|error| {
        Failure::Other(format!("cannot write man pages to {}: {error}", folder.display()))
    })
}
