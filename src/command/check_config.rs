//! `sealward check-config`: validates and prints the settings.

use std::io::Write as _;
use std::path::Path;

use super::Failure;
use engine::settings::{Environment, Settings};

pub(super) fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = Settings::load(config, environment)?;
    let shown = toml::to_string_pretty(&settings)
        .map_err(|error| Failure::Other(format!("the settings cannot be shown: {error}")))?;
    Ok(std::io::stdout().write_all(shown.as_bytes())?)
}
