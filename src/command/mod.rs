//! The commands of the binary, one file each.

mod api_key;
mod audit;
mod check_config;
mod doctor;
mod failure;
mod key;
mod migrate;
mod retain;
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
    /// The settings, a TOML file. Default: the value of SEALWARD_CONFIG.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service.
    Serve,
    /// Migrate the database schema, with the login in the section migrate.
    Migrate(migrate::Arguments),
    /// Detach old days from the audit log, with the login in the section retain.
    ///
    /// Keeps the days of retain.days, and drops the detached tables if retain.drop is set. Prints one
    /// line per day. Run it daily. The exit code is 0 on success, 78 if a setting or a grant must change,
    /// and 1 if a later run can succeed.
    Retain,
    /// Validate the settings and print them without secrets.
    CheckConfig,
    /// Test each token for all functions that Sealward needs.
    Doctor(doctor::Arguments),
    /// Create API keys, for example the first admin key.
    ApiKey(api_key::Arguments),
    /// Begin the tamper-evident logs of the audit records, and verify them.
    Audit(audit::Arguments),
    /// Wrap keys offline, or import them over the API.
    Key(key::Arguments),
}

/// Runs the command.
pub async fn run(arguments: Arguments) -> ExitCode {
    let environment = Environment::of_process();
    let config = arguments.config.as_deref();
    let done = match arguments.command {
        Command::Serve => serve::run(config, &environment).await,
        Command::Migrate(arguments) => migrate::run(config, &environment, &arguments).await,
        Command::Retain => retain::run(config, &environment).await,
        Command::CheckConfig => check_config::run(config, &environment),
        Command::ApiKey(arguments) => api_key::run(config, &environment, arguments).await,
        Command::Audit(arguments) => return audit::run(config, &environment, arguments).await,
        Command::Key(arguments) => key::run(arguments).await,
        Command::Doctor(arguments) => doctor::run(config, &environment, &arguments).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
