//! `sealward person`: unlocks people without the API, for example after a lock of the last owner.

use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::catalog::Catalog;
use engine::management::System;
use engine::management::people::operator;
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Unlock a person, who can then sign in and use their admin keys again.
    Unlock(Unlock),
}

#[derive(Debug, clap::Args)]
struct Unlock {
    /// The ID or the subject of the person.
    person: String,
    /// Print the person as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    Arguments { action: Command::Unlock(wanted) }: Arguments,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let pool = database.pool().clone();
    let system = System::new("cli", Clock::system(), Entropy::system(), Catalog::new(), pool);
    let token = startup::verifying_token(&settings, environment, &database).await?;
    let unlocked = unlock(&system, &wanted).await;
    token.close().await;
    unlocked
}

async fn unlock(system: &System, wanted: &Unlock) -> Result<(), Failure> {
    let person = operator::unlock(system, &wanted.person).await?;
    let mut out = io::stdout();
    if wanted.json {
        serde_json::to_writer_pretty(&mut out, &person).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}  {}  {}", person.id, person.status, person.subject)?;
    }
    Ok(())
}
