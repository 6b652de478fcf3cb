//! Settings of the Postgres database.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// The connection to Postgres.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Database {
    /// The URL `postgres://user@host:port/name`. For a socket, add `?host=/folder`. With several
    /// hosts, `postgres://user@one:port,two:port/name`, the service uses the primary, also after a
    /// failover. The password has its own setting.
    pub url: String,
    /// The source of the password, if there is one.
    pub password: Option<SecretSource>,
    /// PEM file with the CA certificates of Postgres. With it, or if Postgres is on another
    /// machine, connections use TLS and verify certificate and host name. Default: the public CAs.
    pub ca: Option<PathBuf>,
    /// Allows a Postgres on another machine without verified TLS. Use it only if the network in
    /// between is protected.
    pub allow_plain: bool,
    /// The URL of the login that owns the schema and migrates it. Default: the login in `url`. The
    /// service itself never uses the rights of the owner.
    pub owner_url: Option<String>,
    /// The source of the password of the owner, if there is one.
    pub owner_password: Option<SecretSource>,
    /// The maximum number of connections for administration and look-ups. The audit log uses a
    /// separate connection.
    pub connections: u32,
    /// The maximum time to wait for a connection.
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
                    "database.{setting} must be a Postgres URL such as {}",
                    Self::default().url
                ));
            }
            let authority = authority.split(['/', '?']).next().unwrap_or_default();
            let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
            if user.contains(':') {
                found.push(format!(
                    "database.{setting} must not contain a password: \
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
                    "database.{setting} must be in the settings only in development: \
                     use {{ file = \"…\" }}, {{ credential = \"…\" }} or {{ command = [\"…\"] }}"
                ));
            }
        }
        if self.owner_url.is_none() && self.owner_password.is_some() {
            found.push("database.owner_password requires database.owner_url".to_owned());
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
