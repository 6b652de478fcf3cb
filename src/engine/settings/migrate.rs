//! Settings of `sealward migrate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::check_login;
use super::{Database, SecretSource, Stage};

/// The login that owns the schema. Only `sealward migrate` reads this section.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Migrate {
    /// The URL of the login that owns the schema, in the form of `database.url`. Default: the login
    /// of the service, which only development accepts as the owner.
    pub url: Option<String>,
    /// The source of its password, if there is one.
    pub password: Option<SecretSource>,
}

impl Migrate {
    /// The connection of the owner.
    pub fn database(&self, service: &Database) -> Database {
        match &self.url {
            Some(url) => service.with_login("migrate", url, self.password.as_ref()),
            None => service.clone(),
        }
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let Self { url, password } = self;
        check_login("migrate", url.as_deref(), password.as_ref(), stage, found);
    }
}
