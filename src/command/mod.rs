//! What the binary can be told to do: one command, one file.

mod api_key;
mod check_config;
mod doctor;
mod failure;
mod key;
mod migrate;
mod serve;
mod startup;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::failure::Failure;
use crate::settings::Environment;

/// A cryptographic protection service in front of a PKCS#11 token.
#[derive(Debug, Parser)]
#[command(name = "sealward", version, arg_required_else_help = true)]
pub struct Arguments {
    /// The settings, a TOML file. Left out, SEALWARD_CONFIG names it.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service.
    Serve,
    /// Bring the database's schema up to date and end.
    Migrate,
    /// Show the settings in effect, without secrets, or all that is wrong with them.
    CheckConfig,
    /// Try everything the service needs of each token, and say what works.
    Doctor(doctor::Arguments),
    /// Make API keys, above all the first admin key.
    ApiKey(api_key::Arguments),
    /// Bring keys in: wrap them offline, or import them over the API.
    Key(key::Arguments),
}

/// Runs the command that was asked for.
pub async fn run(arguments: Arguments) -> ExitCode {
    let environment = Environment::of_process();
    let config = arguments.config.as_deref();
    let done = match arguments.command {
        Command::Serve => serve::run(config, &environment).await,
        Command::Migrate => migrate::run(config, &environment).await,
        Command::CheckConfig => check_config::run(config, &environment),
        Command::ApiKey(arguments) => api_key::run(config, &environment, arguments).await,
        Command::Key(arguments) => key::run(arguments).await,
        Command::Doctor(arguments) => doctor::run(config, &environment, &arguments).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
