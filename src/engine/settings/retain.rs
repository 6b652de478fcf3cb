//! Settings of `sealward retain`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::check_login;
use super::{Database, SecretSource, Stage};

/// How long the audit log is kept. Only `sealward retain` reads this section.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Retain {
    /// The URL of the login that detaches days, in the form of `database.url`. It must be a member of
    /// `sealward_retention` and of no other role.
    pub url: Option<String>,
    /// The source of its password, if there is one.
    pub password: Option<SecretSource>,
    /// The number of whole days to keep. Older days are detached from the audit log. The database
    /// refuses fewer days than the owner of the schema allows, by default 90.
    pub days: Option<u32>,
    /// Also drops the tables of detached days. By default they stay in the database for its owner
    /// to archive.
    pub drop: bool,
}

impl Retain {
    /// The connection of the login that detaches days.
    pub fn database(&self, service: &Database) -> Option<Database> {
        let url = self.url.as_ref()?;
        Some(service.with_login("retain", url, self.password.as_ref()))
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let (url, password) = (self.url.as_deref(), self.password.as_ref());
        check_login("retain", url, password, stage, found);
        if self.days.is_some_and(|days| !(1..=36_500).contains(&days)) {
            found.push("retain.days must be from 1 to 36500".to_owned());
        }
        if self.drop && self.days.is_none() {
            found.push("retain.drop requires retain.days".to_owned());
        }
    }
}
