//! `sealward init`: makes in the token what the service needs there. Run it once after the first
//! `sealward migrate`; it can run again.

use std::io::{self, Write as _};
use std::path::Path;

use super::{Failure, startup};
use engine::rows::initialize;
use engine::settings::Environment;

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let tokens = startup::tokens(&settings, environment, Some(database.pool()))?;
    let token = hsm::Token::open(tokens).await?;
    let made = initialize(database.pool(), &token).await;
    token.close().await;
    let text = match made? {
        true => "the token has a row key now",
        false => "the token has its row key",
    };
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}
