//! Whether people can sign in at the provider.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::command::{Failure, startup};
use engine::auth::Role;
use engine::auth::oidc::without_groups;
use engine::db::Pool;
use engine::management::changes::unknown_people;
use engine::settings::{Environment, Oidc, Settings};
use formats::clock::{Clock, Timestamp};

/// The findings about the provider of the settings.
pub(super) struct ProviderCheck {
    /// The issuer, or the reason that its OpenID configuration or its keys cannot be read.
    pub(super) reached: Result<String, String>,
    warnings: Vec<String>,
}

/// Reads the OpenID configuration and the keys of the issuer. None without a provider.
pub(super) async fn check(
    settings: &Settings,
    environment: &Environment,
    database: Option<&Pool>,
) -> Result<Option<ProviderCheck>, Failure> {
    let clock = Clock::system();
    let Some(provider) = startup::provider(settings, environment, clock.clone())? else {
        return Ok(None);
    };
    let (reached, issuer) = (provider.probe().await, provider.issuer());
    let mut warnings = of_settings(&settings.admin.oidc);
    if let Some(database) = database {
        warnings.extend(of_people(database, clock.now(), issuer).await);
    }
    let reached = reached.map(|()| issuer.to_owned());
    Ok(Some(ProviderCheck { reached: reached.map_err(|error| error.to_string()), warnings }))
}

fn of_settings(oidc: &Oidc) -> Vec<String> {
    let redirect_uri = oidc.redirect_uri.as_deref().unwrap_or_default();
    let mut warnings = Vec::new();
    if redirect_uri.starts_with("http://") {
        let warning = "admin.oidc.redirect_uri is http://: people sign in on this machine only";
        warnings.push(warning.to_owned());
    }
    let roles: Vec<_> = without_groups(&oidc.roles).map(Role::name).collect();
    if !roles.is_empty() {
        let roles = roles.join(", ");
        warnings.push(format!("admin.oidc.roles has no group for {roles}"));
    }
    warnings
}

/// A person is the subject of tokens. A key with another name counts as another person.
async fn of_people(database: &Pool, now: Timestamp, issuer: &str) -> Option<String> {
    let people = unknown_people(database, now, issuer).await.ok()?;
    let people = Some(people.join(", ")).filter(|people| !people.is_empty())?;
    Some(format!(
        "admin keys name people who never signed in: {people}. A person is the subject (sub) of the tokens"
    ))
}

/// For people.
pub(super) fn text(found: Option<&ProviderCheck>) -> String {
    let Some(ProviderCheck { reached, warnings }) = found else {
        return String::new();
    };
    let mut page = match reached {
        Ok(issuer) => {
            format!("OpenID Connect\n  {issuer}: configuration and keys are readable\n")
        }
        Err(reason) => format!("OpenID Connect\n  {reason}\n"),
    };
    for warning in warnings {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "  {warning}");
    }
    page
}

/// For programs.
pub(super) fn as_json(found: Option<&ProviderCheck>) -> Value {
    let Some(ProviderCheck { reached, warnings }) = found else {
        return Value::Null;
    };
    match reached {
        Ok(issuer) => json!({ "issuer": issuer, "warnings": warnings }),
        Err(reason) => json!({ "error": reason, "warnings": warnings }),
    }
}
