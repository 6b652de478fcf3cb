//! `sealward migrate`: migrates the database schema with the login of its owner. Run it before a new
//! release starts.

use std::path::Path;

use super::{Failure, startup};
use engine::db;
use engine::settings::Environment;

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = startup::prepare(config, environment)?;
    let owner = settings.migrate.database(&settings.database);
    let servers = startup::servers(&owner, environment)?;
    let applied = db::migrate(&servers, &owner).await?;
    tracing::info!(?applied, "the schema is up to date");
    Ok(())
}
