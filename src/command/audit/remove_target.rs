//! `sealward audit remove-target`: ends forwarding to a collector.

use std::path::Path;

use super::{Failure, startup};
use engine::ledger::forward::remove_target;
use engine::settings::Environment;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The name of the collector, as in audit.forward.target.
    target: String,
}

/// Refuses the collector of the settings, because its instances would start again with the first
/// record.
pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let (forward, target) = (&settings.audit.forward, &arguments.target);
    if forward.url.is_some() && forward.target == *target {
        return Err(Failure::Other(format!(
            "{target:?} is in use: remove audit.forward.url from the settings of all instances, or \
             change audit.forward.target, and restart them first"
        )));
    }
    let database = startup::database(&settings, environment).await?;
    let removed = remove_target(database.pool(), target).await;
    match removed.map_err(|error| Failure::Other(error.to_string()))? {
        true => Ok(()),
        false => Err(Failure::Other(format!("no records were sent to {target:?}"))),
    }
}
