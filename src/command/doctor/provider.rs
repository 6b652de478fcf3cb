//! Whether the provider at which people sign in is reachable.

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::command::{Failure, startup};
use crate::settings::{Environment, Settings};

/// Whether the OpenID configuration and the keys can be read. None without a provider.
pub(super) type Reached = Option<Result<String, String>>;

/// Reads the OpenID configuration and the keys of the issuer.
pub(super) async fn check(
    settings: &Settings,
    environment: &Environment,
) -> Result<Reached, Failure> {
    let Some(provider) = startup::provider(settings, environment, Clock::system())? else {
        return Ok(None);
    };
    let reached = provider.probe().await;
    let issuer = provider.issuer().to_owned();
    Ok(Some(
        reached.map(|()| issuer).map_err(|error| error.to_string()),
    ))
}

/// For people.
pub(super) fn text(reached: &Reached) -> String {
    match reached {
        None => String::new(),
        Some(Ok(issuer)) => {
            format!("OpenID Connect\n  {issuer}: configuration and keys are readable\n")
        }
        Some(Err(reason)) => format!("OpenID Connect\n  {reason}\n"),
    }
}

/// For programs.
pub(super) fn as_json(reached: &Reached) -> Value {
    match reached {
        None => Value::Null,
        Some(Ok(issuer)) => json!({ "issuer": issuer }),
        Some(Err(reason)) => json!({ "error": reason }),
    }
}
