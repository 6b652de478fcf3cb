//! `sealward audit`: the tamper-evident logs of the audit records.

mod init;
mod remove_target;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use super::{Failure, startup};
use engine::settings::Environment;

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create the signing key in the token and begin the logs. Prints their public keys.
    ///
    /// It does nothing if the logs exist.
    Init(init::Arguments),
    /// Remove a collector of `audit.forward` that is no longer used.
    ///
    /// Retention waits for each collector that has received records.
    RemoveTarget(remove_target::Arguments),
    /// Verify records against signed checkpoints, without the service, its token or a network.
    ///
    /// The exit code is 0 if they are unchanged, 1 if they were changed, and 2 if the check was not
    /// possible.
    Verify(verify::Arguments),
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: Arguments,
) -> ExitCode {
    let done = match arguments.action {
        Command::Init(arguments) => init::run(config, environment, &arguments).await,
        Command::RemoveTarget(arguments) => {
            remove_target::run(config, environment, &arguments).await
        }
        Command::Verify(arguments) => return verify::run(config, environment, &arguments).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
