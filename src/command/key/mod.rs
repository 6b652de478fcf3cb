//! `sealward key`: imports keys without exposing their plaintext.

mod file;
mod import;
mod wrap;

pub(super) use self::file::{first_line, invalid};
use super::Failure;

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Wrap(wrap::Arguments),
    Import(import::Arguments),
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let work = move || match arguments.action {
        Command::Wrap(arguments) => wrap::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
    };
    // Both wait for files, one for a network: not on a thread that others wait for.
    tokio::task::spawn_blocking(work).await.map_err(|error| Failure::Other(error.to_string()))?
}
