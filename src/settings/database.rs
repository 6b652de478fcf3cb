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
    /// `postgres://user@host:port/name`; a socket's folder goes in `?host=/folder`. With several
    /// hosts, `postgres://user@one:port,two:port/name`, the one that takes writes is used, and after
    /// a failover the one that does then. The password has a setting of its own.
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
    /// The login that owns the schema and brings it up to date, in a URL as above. Left out, it is
    /// the one in `url`. The service itself works without the owner's rights either way.
    pub owner_url: Option<String>,
    /// Where the owner's password comes from, if it has one.
    pub owner_password: Option<SecretSource>,
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
            owner_url: None,
            owner_password: None,
            connections: 8,
            connect_timeout: Span::seconds(5),
        }
    }
}

impl Database {
    /// How the owner of the schema reaches the database.
    #[must_use]
    pub fn of_owner(&self) -> Self {
        match &self.owner_url {
            Some(url) => Self {
                url: url.clone(),
                password: self.owner_password.clone(),
                ..self.clone()
            },
            None => self.clone(),
        }
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let owner = self.owner_url.as_deref();
        for (setting, url) in [("url", Some(self.url.as_str())), ("owner_url", owner)] {
            let Some(url) = url else { continue };
            let (scheme, authority) = url.split_once("://").unwrap_or(("", ""));
            if !matches!(scheme, "postgres" | "postgresql") {
                found.push(format!(
                    "database.{setting} is not a Postgres URL such as {}",
                    Self::default().url
                ));
            }
            let authority = authority.split(['/', '?']).next().unwrap_or_default();
            let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
            if user.contains(':') {
                found.push(format!(
                    "database.{setting} holds a password, which would show wherever settings are shown: \
                     put it into a file and set database.{} = {{ file = \"…\" }}",
                    setting.replace("url", "password")
                ));
            }
        }
        let passwords = [
            ("password", &self.password),
            ("owner_password", &self.owner_password),
        ];
        for (setting, password) in passwords {
            if stage != Stage::Development && password.as_ref().is_some_and(SecretSource::is_plain)
            {
                found.push(format!(
                    "database.{setting} is written into the settings, which only development allows: \
                     use {{ file = \"…\" }}, {{ credential = \"…\" }} or {{ command = [\"…\"] }}"
                ));
            }
        }
        if self.owner_url.is_none() && self.owner_password.is_some() {
            found
                .push("database.owner_password is of no use without database.owner_url".to_owned());
        }
        if self.connections == 0 {
            found.push("database.connections must be at least 1".to_owned());
        }
        if self.connect_timeout < Span::millis(100) {
            found.push("database.connect_timeout must be at least 100ms".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_whoever_the_settings_name_and_its_password_is_as_secret() {
        let alone = Database::default();
        assert_eq!(alone.of_owner().url, alone.url);
        let two = Database {
            owner_url: Some("postgres://owner:tell-no-one@db/sealward".to_owned()),
            ..Database::default()
        };
        assert_eq!(Some(two.of_owner().url), two.owner_url);
        let mut found = Vec::new();
        two.contradictions(Stage::Production, &mut found);
        assert!(
            found.len() == 1 && found[0].contains("database.owner_password"),
            "{found:?}"
        );
        assert!(!found[0].contains("tell-no-one"));
    }
}
