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
    /// The maximum number of connections for administration and look-ups. The audit log uses a
    /// separate connection.
    pub connections: u32,
    /// The maximum time to wait for a connection.
    pub connect_timeout: Span,
    /// The section that has the URL and the password.
    #[serde(skip)]
    pub section: &'static str,
}

/// The URL of a server in a command is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a Postgres URL such as postgres://user@host:5432/postgres, without a password: set \
     PGPASSWORD, or write the password to the password file of Postgres"
)]
pub struct NotAServer;

impl Default for Database {
    fn default() -> Self {
        Self {
            url: "postgres://sealward@localhost/sealward".to_owned(),
            password: None,
            ca: None,
            allow_plain: false,
            connections: 8,
            connect_timeout: Span::seconds(5),
            section: "database",
        }
    }
}

impl Database {
    /// The same database for the login in `section`.
    pub(super) fn with_login(
        &self,
        section: &'static str,
        url: &str,
        password: Option<&SecretSource>,
    ) -> Self {
        Self { section, url: url.to_owned(), password: password.cloned(), ..self.clone() }
    }

    /// The same connection to the server of a URL that a command has. It takes the password from the
    /// environment of Postgres' own programs.
    ///
    /// # Errors
    /// The URL has another scheme or a password.
    pub fn elsewhere(&self, section: &'static str, url: &str) -> Result<Self, NotAServer> {
        let mut found = Vec::new();
        check_login(section, Some(url), None, Stage::Production, &mut found);
        if found.is_empty() { Ok(self.with_login(section, url, None)) } else { Err(NotAServer) }
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let url = Some(self.url.as_str());
        check_login("database", url, self.password.as_ref(), stage, found);
        if self.connections == 0 {
            found.push("database.connections must be at least 1".to_owned());
        }
        if self.connect_timeout < Span::millis(100) {
            found.push("database.connect_timeout must be at least 100ms".to_owned());
        }
    }
}

/// Checks the URL and the password of a login in `section`.
pub(super) fn check_login(
    section: &str,
    url: Option<&str>,
    password: Option<&SecretSource>,
    stage: Stage,
    found: &mut Vec<String>,
) {
    if let Some(url) = url {
        let (scheme, authority) = url.split_once("://").unwrap_or(("", ""));
        if !matches!(scheme, "postgres" | "postgresql") {
            found.push(format!(
                "{section}.url must be a Postgres URL such as {}",
                Database::default().url
            ));
        }
        let authority = authority.split(['/', '?']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        if user.contains(':') {
            found.push(format!(
                "{section}.url must not contain a password: \
                 put it into a file and set {section}.password = {{ file = \"…\" }}"
            ));
        }
    } else if password.is_some() {
        found.push(format!("{section}.password requires {section}.url"));
    }
    if stage != Stage::Development && password.is_some_and(SecretSource::is_plain) {
        found.push(format!(
            "{section}.password must be in the settings only in development: \
             use {{ file = \"…\" }}, {{ credential = \"…\" }} or {{ command = [\"…\"] }}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Migrate, Retain};
    use super::*;

    #[test]
    fn each_command_has_its_own_login_with_a_secret_password() {
        let service = Database::default();
        let url = Some("postgres://other:settings-secret@db/sealward".to_owned());
        let migrate = Migrate { url: url.clone(), password: None };
        let retain = Retain { url: url.clone(), ..Retain::default() };
        assert_eq!(Migrate::default().database(&service).url, service.url);
        assert_eq!(Some(migrate.database(&service).url), url);
        assert!(Retain::default().database(&service).is_none());
        assert_eq!(retain.database(&service).map(|it| it.url), url);
        let mut found = Vec::new();
        migrate.contradictions(Stage::Production, &mut found);
        retain.contradictions(Stage::Production, &mut found);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("migrate.password") && found[1].contains("retain.password"));
        assert!(found.iter().all(|line| !line.contains("settings-secret")));
    }
}
