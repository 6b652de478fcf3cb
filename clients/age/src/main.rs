//! A plugin for age, rage and SOPS. It encrypts file keys offline with the public key of a policy, and opens
//! them through Sealward, whose token holds the private key.

#![forbid(unsafe_code)]

mod command;
mod failure;
mod fields;
mod identity;
mod open;
mod recipient;
mod seal;
mod service;
mod stanza;

use std::io::Write as _;
use std::process::ExitCode;

use age_plugin::{PluginHandler, run_state_machine};
use clap::Parser;

use self::command::Command;
use self::failure::Failure;
use self::open::Identities;
use self::seal::Recipients;

/// The name in recipients, identities and stanzas, and of this program after `age-plugin-`.
const NAME: &str = "sealward";

/// Encrypt files with age, rage or SOPS, so that they only open through Sealward.
///
/// age starts this program itself. The commands print what age needs. The environment has the credential:
/// SEALWARD_API_KEY, SEALWARD_API_KEY_FILE or SEALWARD_TOKEN_FILE, and SEALWARD_CA_FILE for a private CA.
#[derive(Debug, Parser)]
#[command(name = "age-plugin-sealward", version, arg_required_else_help = true)]
struct Arguments {
    /// How age starts this program.
    #[arg(long, hide = true, value_name = "STATE", exclusive = true)]
    age_plugin: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match (&arguments.age_plugin, &arguments.command) {
        (Some(state), _) => run_state_machine(state, Plugin).map_err(Failure::Age),
        (None, Some(command)) => command.run(),
        (None, None) => Ok(()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "age-plugin-sealward: {}", failure.line());
            failure.exit_code()
        }
    }
}

struct Plugin;

impl PluginHandler for Plugin {
    type RecipientV1 = Recipients;
    type IdentityV1 = Identities;

    fn recipient_v1(self) -> std::io::Result<Recipients> {
        Ok(Recipients::default())
    }

    fn identity_v1(self) -> std::io::Result<Identities> {
        Ok(Identities::default())
    }
}
