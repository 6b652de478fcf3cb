//! `sealward init`: makes in the token what the service needs there. Run it once after the first
//! `sealward migrate`; it can run again.

use std::io::{self, Write as _};
use std::path::Path;

use hsm::Token;

use super::{Failure, startup};
use engine::db::Pool;
use engine::report_key;
use engine::rows::initialize;
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let tokens = startup::tokens(&settings, environment, Some(database.pool()))?;
    let token = Token::open(tokens).await?;
    let made = keys(database.pool(), &token).await;
    token.close().await;
    for (name, is_new) in made? {
        let text = match is_new {
            true => format!("the token has a {name} key now"),
            false => format!("the token has its {name} key"),
        };
        writeln!(io::stdout(), "{text}")?;
    }
    Ok(())
}

/// Makes the keys that are missing. Returns whether each was made.
async fn keys(pool: &Pool, token: &Token) -> Result<[(&'static str, bool); 2], Failure> {
    let row = initialize(pool, token).await?;
    let time = (&Clock::system(), &Entropy::system());
    let report = report_key::initialize(pool, token, time).await?;
    Ok([("row", row), ("report", report)])
}
