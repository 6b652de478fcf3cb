//! The commands of the binary, one file each.

mod api_key;
mod audit;
mod change;
mod check_config;
mod client;
mod completions;
mod doctor;
mod drill;
mod emergency;
mod envelope;
mod failure;
mod file;
mod health;
mod init;
mod key;
mod kube_kms;
mod man_pages;
mod migrate;
mod person;
mod progress;
mod report;
mod retain;
mod rewrap_all;
mod rows;
mod serve;
mod service;
mod startup;
mod terminal;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use self::failure::Failure;
use engine::settings::Environment;

/// A cryptographic protection service in front of a PKCS#11 token.
#[derive(Debug, Parser)]
#[command(name = "sealward", version, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service.
    Serve {
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Migrate the database schema, with the login in the section migrate.
    Migrate {
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Make the row key and the report key in the token, once after the first migration.
    ///
    /// The service verifies the rows of its database with the row key, and does not start without it. It signs
    /// reports with the report key. Run again, the command changes nothing.
    Init {
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Detach old days from the audit log, with the login in the section retain.
    ///
    /// Keeps the days of retain.days, and drops the detached tables if retain.drop is set. Prints one
    /// line per day. Run it daily. The exit code is 0 on success, 78 if a setting or a grant must change,
    /// and 1 if a later run can succeed.
    Retain {
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Validate the settings and print them without secrets.
    CheckConfig {
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Test each token for all functions that Sealward needs.
    Doctor {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        arguments: doctor::Arguments,
    },
    /// Check whether an instance is ready. The exit code is 0 if it is, and otherwise 1.
    Health {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        arguments: health::Arguments,
    },
    /// Create, list and revoke API keys, for example the first admin key.
    ApiKey {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        arguments: api_key::Arguments,
    },
    /// Unlock people, for example if no owner remains who could.
    Person {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        arguments: person::Arguments,
    },
    /// Take something away at once, without a token and without the API.
    ///
    /// Needs only the login of the database. It has its effect on all instances within a second, and an event
    /// records it with the actor cli.
    #[command(arg_required_else_help = true)]
    Emergency {
        #[command(flatten)]
        file: ConfigFile,
        #[command(subcommand)]
        command: emergency::Command,
    },
    /// Restore a dump into a database that the command makes and drops, and verify it.
    ///
    /// Opens the canary of each key in the token, compares all rows with their seals and their events, and
    /// verifies both audit logs against the anchor. Writes a signed report, and reads the database of the service. Run
    /// it daily with the newest dump. The exit code is 0 if nothing is wrong.
    Drill {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        arguments: drill::Arguments,
    },
    /// Begin the tamper-evident logs of the audit records, and verify them.
    Audit {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        arguments: audit::Arguments,
    },
    /// Verify and renew the seals of the rows of the database.
    #[command(arg_required_else_help = true)]
    Rows {
        #[command(flatten)]
        file: ConfigFile,
        #[command(subcommand)]
        command: rows::Command,
    },
    /// Wrap keys offline, or import them over the API.
    Key(key::Arguments),
    /// List, show, approve and reject changes that need approval, over the API.
    Change(change::Arguments),
    /// Fetch signed reports for auditors over the API, and verify them offline.
    Report(report::Arguments),
    /// Protect a payload. The output is its envelope.
    ///
    /// A payload that an inactive policy would pass through or drop is an error.
    Protect(envelope::Protect),
    /// Open an envelope. The output is its payload.
    Unprotect(envelope::Unprotect),
    /// Make a new envelope of an envelope, for example with the newest key. The payload stays in the service.
    Rewrap(envelope::Rewrap),
    /// Make new envelopes of all envelopes in a file, in batches.
    ///
    /// The exit code is 0 if all succeeded, and 1 if some failed or the run was interrupted.
    RewrapAll(rewrap_all::Arguments),
    /// Encrypt and decrypt files of any size, with a data key.
    File(file::Arguments),
    /// Encrypt the secrets of Kubernetes, as a plugin of its API server (KMS v2).
    ///
    /// The plugin runs until SIGTERM. It encrypts with the newest AES-256 key of the service to which its
    /// credential belongs.
    KubeKms(kube_kms::Arguments),
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
    /// Write the man pages of all commands to a folder.
    ManPages(man_pages::Arguments),
}

// Without a description, which would replace that of the command.
#[derive(Debug, clap::Args)]
struct ConfigFile {
    /// The settings, a TOML file. Default: the value of SEALWARD_CONFIG.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigFile {
    fn path(&self) -> Option<&Path> {
        self.config.as_deref()
    }
}

/// Runs the command.
pub async fn run(arguments: Arguments) -> ExitCode {
    let environment = Environment::of_process();
    let environment = &environment;
    let done = match arguments.command {
        Command::Serve { file } => serve::run(file.path(), environment).await,
        Command::Migrate { file } => migrate::run(file.path(), environment).await,
        Command::Init { file } => init::run(file.path(), environment).await,
        Command::Retain { file } => retain::run(file.path(), environment).await,
        Command::CheckConfig { file } => check_config::run(file.path(), environment),
        Command::ApiKey { file, arguments } => {
            api_key::run(file.path(), environment, arguments).await
        }
        Command::Person { file, arguments } => {
            person::run(file.path(), environment, arguments).await
        }
        Command::Drill { file, arguments } => {
            drill::run(file.path(), environment, &arguments).await
        }
        Command::Audit { file, arguments } => {
            return audit::run(file.path(), environment, arguments).await;
        }
        Command::Emergency { file, command } => {
            emergency::run(file.path(), environment, &command).await
        }
        Command::Health { file, arguments } => {
            return health::run(file.path(), environment, &arguments);
        }
        Command::Rows { file, command } => rows::run(file.path(), environment, &command).await,
        Command::Key(arguments) => key::run(arguments).await,
        Command::Change(arguments) => change::run(arguments).await,
        Command::Report(arguments) => return report::run(arguments).await,
        Command::Protect(arguments) => envelope::protect(&arguments).await,
        Command::Unprotect(arguments) => envelope::unprotect(&arguments).await,
        Command::Rewrap(arguments) => envelope::rewrap(&arguments).await,
        Command::RewrapAll(arguments) => rewrap_all::run(&arguments).await,
        Command::File(arguments) => file::run(&arguments).await,
        Command::KubeKms(arguments) => kube_kms::run(&arguments).await,
        Command::Doctor { file, arguments } => {
            doctor::run(file.path(), environment, &arguments).await
        }
        Command::Completions(arguments) => completions::run(Arguments::command(), &arguments),
        Command::ManPages(arguments) => man_pages::run(Arguments::command(), &arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
