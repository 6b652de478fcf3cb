//! Settings of the API listener.

use std::net::{Ipv4Addr, SocketAddr};

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Span, Tls};
use crate::fingerprint::Fingerprint;

/// The API listener and its trusted proxies.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Http {
    /// Address and port.
    pub listen: SocketAddr,
    /// Allows plain HTTP on an address that other machines can reach. Use it only behind a proxy
    /// that terminates TLS.
    pub allow_plain: bool,
    /// Address and port of a separate listener that answers only `/livez` and `/readyz`, for example
    /// `0.0.0.0:8081`. It uses no TLS and asks for no client certificate, so that orchestrators can probe
    /// an API that requires one. Default: none. The API listener answers these paths too.
    pub probe_listen: Option<SocketAddr>,
    /// TLS. With a certificate and its key, the API accepts TLS only.
    pub tls: Tls,
    /// Networks of trusted proxies. For a request from one of them, the client address is the last
    /// address in `X-Forwarded-For` that is not a trusted proxy.
    #[schemars(with = "Vec<String>")]
    pub trusted_proxies: Vec<IpNet>,
    /// The SHA-256 fingerprints of the TLS client certificates of trusted proxies that send the
    /// certificates of their clients in the headers `Client-Cert` and `Client-Cert-Chain` (RFC 9440). The
    /// service reads the headers of no other client. A certificate in this list never identifies a caller.
    #[schemars(with = "Vec<String>")]
    pub proxy_certificates: Vec<Fingerprint>,
    /// The maximum number of client connections. Further connections wait until another closes. The
    /// limit of file descriptors (`LimitNOFILE=`) can lower it.
    pub max_connections: u32,
    /// The maximum number of connections of one client address, or of one IPv6 /64 network. The
    /// service closes further connections immediately. Trusted proxies have no limit.
    pub max_connections_per_address: u32,
    /// The maximum time for the TLS handshake, and then for the headers of a request.
    pub header_timeout: Span,
    /// The maximum time that a connection may be idle between requests, or that a client may stop
    /// reading a response. Load balancers must close idle connections sooner.
    pub idle_timeout: Span,
    /// The maximum age of a connection, shortened by up to a tenth so that connections do not close at
    /// the same time. Requests in flight finish before the connection closes.
    pub max_connection_age: Span,
    /// How long the service accepts requests after SIGTERM while `/readyz` fails, so that load
    /// balancers notice. Connections close after each response. Default: 5 seconds, 0 in
    /// development.
    pub drain_delay: Option<Span>,
    /// The maximum time after `drain_delay` for requests in flight to finish.
    pub drain_timeout: Span,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allow_plain: false,
            probe_listen: None,
            tls: Tls::default(),
            trusted_proxies: Vec::new(),
            proxy_certificates: Vec::new(),
            max_connections: 4096,
            max_connections_per_address: 1024,
            header_timeout: Span::seconds(10),
            idle_timeout: Span::seconds(75),
            max_connection_age: Span::seconds(60 * 60),
            drain_delay: None,
            drain_timeout: Span::seconds(30),
        }
    }
}

impl Http {
    pub(super) fn contradictions(&self, has_spiffe: bool, found: &mut Vec<String>) {
        self.tls.contradictions(has_spiffe, found);
        if !self.proxy_certificates.is_empty() {
            if self.trusted_proxies.is_empty() {
                found.push(
                    "http.proxy_certificates requires http.trusted_proxies, the networks of the proxies"
                        .to_owned(),
                );
            }
            if self.tls.client_ca.is_none() && !has_spiffe {
                found.push(
                    "http.proxy_certificates requires http.tls.client_ca or auth.spiffe, which name the \
                     CAs of the certificates of proxies"
                        .to_owned(),
                );
            }
        }
        let is_plain = self.tls.certificate.is_none();
        if is_plain && !self.listen.ip().is_loopback() && !self.allow_plain {
            found.push(format!(
                "http.listen = \"{}\" is reachable from other machines without TLS: set http.tls.certificate \
                 and http.tls.key, or listen on 127.0.0.1, or set http.allow_plain = true where a proxy ends TLS \
                 for this service",
                self.listen
            ));
        }
        for (setting, connections) in [
            ("max_connections", self.max_connections),
            ("max_connections_per_address", self.max_connections_per_address),
        ] {
            if connections == 0 {
                found.push(format!("http.{setting} must be at least 1"));
            }
        }
        for (setting, span) in [
            ("header_timeout", self.header_timeout),
            ("idle_timeout", self.idle_timeout),
            ("max_connection_age", self.max_connection_age),
        ] {
            if span < Span::millis(100) {
                found.push(format!("http.{setting} must be at least 100ms"));
            }
        }
    }
}
