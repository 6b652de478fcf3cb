//! Settings of forwarding: where sealed audit records are sent.

use std::path::PathBuf;

use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderName, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// Forwarding: a collector such as a SIEM receives the sealed records of both logs in the order of
/// their index. One instance at a time sends.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Forward {
    /// The URL of the collector: `https://host/path` for batches of NDJSON, or
    /// `syslog+tls://host:6514` for syslog over TLS. Default: no forwarding.
    pub url: Option<String>,
    /// The name under which the database keeps the position of the collector. Under a new name,
    /// forwarding starts with the first record. A new URL under the same name continues.
    pub target: String,
    /// PEM file with the CA certificates of the collector. Default: the CAs of the system.
    pub ca: Option<PathBuf>,
    /// PEM file with the client certificate for the collector, followed by its intermediate
    /// certificates.
    pub certificate: Option<PathBuf>,
    /// PEM file with the private key of the client certificate, without a passphrase.
    pub key: Option<PathBuf>,
    /// The header that contains `secret` in requests to an HTTPS collector.
    pub header: String,
    /// The source of the value of `header`, such as `Bearer …`.
    pub secret: Option<SecretSource>,
    /// The interval in which new records are sent.
    pub interval: Span,
    /// The maximum time for a connection, and for a batch.
    pub timeout: Span,
}

/// The address of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub protocol: ForwardProtocol,
    /// The host, as in the URL.
    pub host: String,
    pub port: u16,
    /// The path and the query of an HTTPS URL.
    pub path: PathAndQuery,
}

/// How records are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardProtocol {
    /// Batches of NDJSON over HTTPS.
    Https,
    /// Syslog (RFC 5424) over TLS (RFC 5425).
    Syslog,
}

impl Default for Forward {
    fn default() -> Self {
        Self {
            url: None,
            target: "collector".to_owned(),
            ca: None,
            certificate: None,
            key: None,
            header: header::AUTHORIZATION.as_str().to_owned(),
            secret: None,
            interval: Span::seconds(1),
            timeout: Span::seconds(30),
        }
    }
}

impl Forward {
    /// The address of the collector. None without forwarding.
    pub fn endpoint(&self) -> Option<Endpoint> {
        let uri: Uri = self.url.as_ref()?.parse().ok()?;
        let (protocol, port) = match uri.scheme_str()? {
            "https" => (ForwardProtocol::Https, 443),
            "syslog+tls" => (ForwardProtocol::Syslog, 6514),
            _ => return None,
        };
        let authority = uri.authority()?;
        let path = uri.path_and_query()?;
        let is_host = !authority.host().is_empty() && !authority.as_str().contains('@');
        let is_path = protocol == ForwardProtocol::Https || matches!(path.as_str(), "" | "/");
        (is_host && is_path).then(|| Endpoint {
            protocol,
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(port),
            path: path.clone(),
        })
    }

    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let files = [&self.ca, &self.certificate, &self.key];
        if self.url.is_none() {
            if files.into_iter().any(Option::is_some) || self.secret.is_some() {
                found.push(
                    "audit.forward.ca, certificate, key and secret require audit.forward.url"
                        .to_owned(),
                );
            }
            return;
        }
        match self.endpoint().map(|endpoint| endpoint.protocol) {
            None => found.push(
                "audit.forward.url must be a URL without a user such as https://siem.internal/ingest \
                 or syslog+tls://siem.internal:6514"
                    .to_owned(),
            ),
            Some(ForwardProtocol::Syslog) if self.secret.is_some() => found.push(
                "audit.forward.secret requires an https:// URL: syslog has no headers, use \
                 audit.forward.certificate"
                    .to_owned(),
            ),
            Some(ForwardProtocol::Syslog | ForwardProtocol::Https) => {}
        }
        if self.certificate.is_some() != self.key.is_some() {
            found.push(
                "audit.forward.certificate and audit.forward.key require each other".to_owned(),
            );
        }
        if HeaderName::try_from(&self.header).is_err() {
            found.push("audit.forward.header must be the name of an HTTP header".to_owned());
        }
        if stage != Stage::Development && self.secret.as_ref().is_some_and(SecretSource::is_plain) {
            found.push(
                "audit.forward.secret must be in the settings only in development: \
                 use { file = \"…\" }, { credential = \"…\" } or { command = [\"…\"] }"
                    .to_owned(),
            );
        }
        if self.target.is_empty() || self.target.len() > 64 {
            found.push("audit.forward.target must have 1 to 64 bytes".to_owned());
        }
        if self.interval < Span::millis(10) {
            found.push("audit.forward.interval must be at least 10ms".to_owned());
        }
        if !(Span::millis(100)..=Span::seconds(300)).contains(&self.timeout) {
            found.push("audit.forward.timeout must be from 100ms to 5min".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(url: &str) -> Forward {
        Forward { url: Some(url.to_owned()), ..Forward::default() }
    }

    fn wrong(settings: &Forward) -> Vec<String> {
        let mut found = Vec::new();
        settings.contradictions(Stage::Production, &mut found);
        found
    }

    #[test]
    fn a_collector_is_reached_over_https_or_syslog() {
        for (url, protocol, host, port, path) in [
            ("https://siem.internal/a?b=c", ForwardProtocol::Https, "siem.internal", 443, "/a?b=c"),
            ("https://10.0.0.1:8088", ForwardProtocol::Https, "10.0.0.1", 8088, "/"),
            ("syslog+tls://siem.internal", ForwardProtocol::Syslog, "siem.internal", 6514, "/"),
            ("syslog+tls://[::1]:514/", ForwardProtocol::Syslog, "[::1]", 514, "/"),
        ] {
            assert_eq!(wrong(&to(url)), [""; 0], "{url}");
            let endpoint = to(url).endpoint().unwrap();
            assert_eq!((endpoint.protocol, endpoint.port), (protocol, port), "{url}");
            assert_eq!((endpoint.host.as_str(), endpoint.path.as_str()), (host, path));
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for url in [
            "http://siem.internal/a",
            "syslog://siem.internal",
            "syslog+tls://siem.internal/path",
            "https://user:password@siem.internal",
            "siem.internal",
            "",
        ] {
            let errors = wrong(&to(url));
            assert!(errors.len() == 1 && errors[0].starts_with("audit.forward.url"), "{errors:?}");
            assert!(!errors[0].contains("password"));
        }
    }

    #[test]
    fn settings_that_have_no_effect_are_refused() {
        let secret = SecretSource::File("token".into());
        let alone = Forward { secret: Some(secret.clone()), ..Forward::default() };
        assert!(wrong(&alone)[0].contains("require audit.forward.url"));
        let syslog = Forward { secret: Some(secret), ..to("syslog+tls://siem.internal") };
        assert!(wrong(&syslog)[0].contains("requires an https:// URL"));
        let half = Forward { certificate: Some("c.pem".into()), ..to("https://siem.internal") };
        assert!(wrong(&half)[0].contains("require each other"));
        let header = Forward { header: "a b".to_owned(), ..to("https://siem.internal") };
        assert!(wrong(&header)[0].contains("audit.forward.header"));
    }
}
