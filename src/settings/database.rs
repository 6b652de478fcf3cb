//! Settings of the Postgres database.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// How to reach Postgres.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Database {
    /// `postgres://user@host:port/name`; a socket's folder goes in `?host=/folder`. The password
    /// has a setting of its own.
    pub url: String,
    /// Where the password comes from, if the user has one.
    pub password: Option<SecretSource>,
    /// Certificates of the CAs that vouch for Postgres, in PEM. With it, and in any case where
    /// Postgres is on another machine, it is spoken to over TLS alone, and its certificate and the
    /// name in it are verified. Left out, the public CAs vouch.
    pub ca: Option<PathBuf>,
    /// Allows a Postgres on another machine without verified TLS; only where the network in between
    /// is protected by something else.
    pub allow_plain: bool,
    /// Connections for administration and look-ups; the audit trail has its own beside them.
    pub connections: u32,
    /// How long to wait for a connection.
    pub connect_timeout: Span,
}

impl Default for Database {
    fn default() -> Self {
        Self {
            url: "postgres://sealward@localhost/sealward".to_owned(),
            password: None,
            ca: None,
            allow_plain: false,
            connections: 8,
            connect_timeout: Span::seconds(5),
        }
    }
}

impl Database {
    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let (scheme, authority) = self.url.split_once("://").unwrap_or(("", ""));
        if !matches!(scheme, "postgres" | "postgresql") {
            found.push(format!(
                "database.url is not a Postgres URL such as {}",
                Self::default().url
            ));
        }
        let authority = authority.split(['/', '?']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        if user.contains(':') {
            found.push(
                "database.url holds a password, which would show wherever settings are shown: \
                 put it into a file and set database.password = { file = \"…\" }"
                    .to_owned(),
            );
        }
        if stage != Stage::Development && self.password.as_ref().is_some_and(SecretSource::is_plain)
        {
            found.push(
                "database.password is written into the settings, which only development allows: \
                 use { file = \"…\" }, { credential = \"…\" } or { command = [\"…\"] }"
                    .to_owned(),
            );
        }
        if self.connections == 0 {
            found.push("database.connections must be at least 1".to_owned());
        }
    }
}
