//! `sealward init`: makes in the token what the service needs there. Run it once after the first
//! `sealward migrate`; it can run again.

use std::io::{self, Write as _};
use std::path::Path;

use hsm::Token;

use super::{Failure, startup};
use engine::db::Pool;
use engine::report_key::{self, NotMade};
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
    for line in made? {
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

/// Makes the keys that are missing. Returns what the token has. The key of reports can wait for an operator.
async fn keys(pool: &Pool, token: &Token) -> Result<[String; 2], Failure> {
    let has = |name, is_new| match is_new {
        true => format!("the token has a {name} key now"),
        false => format!("the token has its {name} key"),
    };
    let row = has("row", initialize(pool, token).await?);
    let time = (&Clock::system(), &Entropy::system());
    let report = match report_key::initialize(pool, token, time).await {
        Err(waits @ NotMade::NotCounting) => waits.to_string(),
        made => has("report", made?),
    };
    Ok([row, report])
}
