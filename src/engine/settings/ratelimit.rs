//! Settings of the rate limits.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// The shared storage of rate limits. The tier of a service sets its limit.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct RateLimit {
    /// The URL of Valkey or Redis, `rediss://user@host:port/number`. All instances count requests
    /// there together. Default: each instance counts separately. The password has its own setting.
    pub url: Option<String>,
    /// The source of the password, if there is one.
    pub password: Option<SecretSource>,
    /// PEM file with the CA certificates of the server. Default: the public CAs.
    pub ca: Option<PathBuf>,
    /// Allows a server on another machine without TLS. Use it only if the network in between is
    /// protected.
    pub allow_plain: bool,
    /// The maximum time to wait for a reply. After this time, each instance enforces its share of each
    /// limit until the server replies again.
    pub timeout: Span,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self { url: None, password: None, ca: None, allow_plain: false, timeout: Span::millis(250) }
    }
}

impl RateLimit {
    pub(crate) fn ca_certificates(&self) -> std::io::Result<Option<Vec<u8>>> {
        self.ca.as_ref().map(std::fs::read).transpose()
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let Some(url) = &self.url else {
            if self.password.is_some() || self.ca.is_some() {
                found.push("ratelimit.password and ratelimit.ca require ratelimit.url".to_owned());
            }
            return;
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("", ""));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        match scheme {
            "rediss" | "valkeys" | "unix" => {}
            "redis" | "valkey" if self.allow_plain || is_here(host) => {}
            "redis" | "valkey" => found.push(
                "ratelimit.url names another machine without TLS: use rediss://, or set \
                 ratelimit.allow_plain = true if the network in between is protected"
                    .to_owned(),
            ),
            _ => found.push(
                "ratelimit.url must be a URL of Valkey or Redis such as rediss://sealward@limits.internal:6379"
                    .to_owned(),
            ),
        }
        if url.contains('#') {
            found.push("ratelimit.url must not have a fragment: TLS is always verified".to_owned());
        }
        if user.contains(':') {
            found.push(
                "ratelimit.url must not contain a password: \
                 put it into a file and set ratelimit.password = { file = \"…\" }"
                    .to_owned(),
            );
        }
        if stage != Stage::Development && self.password.as_ref().is_some_and(SecretSource::is_plain)
        {
            found.push(
                "ratelimit.password must be in the settings only in development: \
                 use { file = \"…\" }, { credential = \"…\" } or { command = [\"…\"] }"
                    .to_owned(),
            );
        }
        if !(Span::millis(1)..=Span::seconds(5)).contains(&self.timeout) {
            found.push("ratelimit.timeout must be from 1ms to 5s".to_owned());
        }
    }
}

fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse();
    name == "localhost" || address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(url: &str) -> Vec<String> {
        let settings = RateLimit { url: Some(url.to_owned()), ..RateLimit::default() };
        let mut found = Vec::new();
        settings.contradictions(Stage::Production, &mut found);
        found
    }

    #[test]
    fn remote_connections_use_tls() {
        for url in [
            "rediss://limits.internal",
            "valkeys://sealward@limits.internal:6380/1",
            "redis://localhost:6379",
            "valkey://sealward@127.0.0.1",
            "redis://[::1]:6379",
            "unix:///run/valkey/socket",
        ] {
            assert_eq!(wrong(url), [""; 0], "{url}");
        }
        for url in ["redis://limits.internal", "valkey://10.0.0.1:6379"] {
            let errors = wrong(url);
            assert!(errors.len() == 1 && errors[0].contains("without TLS"), "{errors:?}");
        }
        assert_eq!(wrong("http://localhost").len(), 1);
        assert_eq!(wrong("rediss://limits.internal#insecure").len(), 1);
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_shown() {
        let errors = wrong("rediss://sealward:settings-secret@limits.internal");
        assert!(errors.len() == 1 && errors[0].contains("ratelimit.password"), "{errors:?}");
        assert!(!errors[0].contains("settings-secret"));
    }
}
