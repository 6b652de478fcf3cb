//! `sealward emergency`: takes something away with the login of the database alone.

use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::catalog::Catalog;
use engine::ids::{ApiKeyId, KeyId, ServiceId};
use engine::management::System;
use engine::management::taking_away::{TakingAway, people_named, take_away};
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Freeze a service, or everything: its operations are refused. The API ends a freeze.
    Freeze(Freeze),
    /// Lock a person: their sessions, access tokens and admin keys are refused. The API or `sealward person
    /// unlock` unlocks them.
    LockPerson {
        /// The ID or the subject of the person. All people with the subject are locked.
        person: String,
    },
    /// Disable a key. The API enables it again.
    DisableKey {
        /// The ID of the key.
        id: KeyId,
    },
    /// Revoke an API key permanently.
    RevokeApiKey {
        /// The ID of the API key.
        id: ApiKeyId,
    },
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Freeze {
    /// The ID of the service.
    #[arg(long, value_name = "ID")]
    service: Option<ServiceId>,
    /// Everything: all operations of all services.
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    command: &Command,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let (clock, entropy, catalog) = (Clock::system(), Entropy::system(), Catalog::new());
    let system = System::new("cli", clock, entropy, catalog, database.pool().clone());
    let (taken, done) = match command {
        Command::Freeze(Freeze { service: Some(id), .. }) => {
            (vec![TakingAway::Service(*id)], "frozen")
        }
        Command::Freeze(Freeze { service: None, .. }) => (vec![TakingAway::Everything], "frozen"),
        Command::LockPerson { person } => {
            let people = people_named(&system, person).await?.into_iter();
            (people.map(TakingAway::Person).collect(), "locked")
        }
        Command::DisableKey { id } => (vec![TakingAway::Key(*id)], "disabled"),
        Command::RevokeApiKey { id } => (vec![TakingAway::ApiKey(*id)], "revoked"),
    };
    for taken in taken {
        let already = if take_away(&system, taken).await? { "" } else { "already " };
        writeln!(io::stdout(), "{already}{done}")?;
    }
    Ok(())
}
