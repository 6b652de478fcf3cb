//! `sealward audit init`: makes the signing key and begins the logs.

use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::ledger::{Renewal, initialize};
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Create a new signing key. Earlier checkpoints remain valid under the earlier key.
    #[arg(long)]
    new_key: bool,
    /// Continue the logs under new origins, after records were lost or changed.
    #[arg(long)]
    new_origin: bool,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let token = startup::verifying_token(&settings, environment, &database).await?;
    let renewal = Renewal {
        key: arguments.new_key,
        origin: arguments.new_origin,
        post_quantum: settings.audit.seal.post_quantum,
    };
    let origin = &settings.audit.seal.origin;
    let time = (&Clock::system(), &Entropy::system());
    let made = initialize(database.pool(), &token, time, origin, renewal).await;
    token.close().await;
    let made = made.map_err(|error| Failure::Other(error.to_string()))?;
    for log in made.restored {
        writeln!(
            io::stderr(),
            "the origin of the {log} log was changed in the database: it is the sealed one again"
        )?;
    }
    for segment in made.foreign {
        writeln!(
            io::stderr(),
            "segment {segment}: no instance wrote it; its records prove nothing"
        )?;
    }
    for key in made.keys {
        writeln!(io::stdout(), "{key}")?;
    }
    Ok(())
}
