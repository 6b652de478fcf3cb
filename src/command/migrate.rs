//! `sealward migrate`: migrates the database schema before the service starts.

use std::path::Path;

use super::{Failure, startup};
use crate::settings::Environment;

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = startup::prepare(config, environment)?;
    startup::migrate(&settings, environment).await?;
    tracing::info!("the schema is up to date");
    Ok(())
}
