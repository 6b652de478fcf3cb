//! Settings of the API's listener.

use std::net::{Ipv4Addr, SocketAddr};

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Span, Tls};

/// Where the API listens, and whom it believes.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Http {
    /// Address and port.
    pub listen: SocketAddr,
    /// Allows plain HTTP on an address that other machines reach; only behind something that ends
    /// TLS for this service.
    pub allow_plain: bool,
    /// TLS: with a certificate and its key the API speaks nothing else.
    pub tls: Tls,
    /// Networks of the proxies in front of this service. A request from one of them is taken to
    /// come from the last address in `X-Forwarded-For` that is no such proxy.
    #[schemars(with = "Vec<String>")]
    pub trusted_proxies: Vec<IpNet>,
    /// Connections that clients may have open; past it they wait until one ends. Where the limit of
    /// descriptors (`LimitNOFILE=`) has no room for as many beside those of the database and the
    /// tokens, there are fewer.
    pub max_connections: u32,
    /// How long a client may take to agree on TLS, and then to send the headers of a request.
    pub header_timeout: Span,
    /// How long a connection may rest between requests, or stand still while its client takes an
    /// answer. Load balancers that keep connections must let go of them sooner.
    pub idle_timeout: Span,
    /// How long after SIGTERM requests are still taken, while `/readyz` says no and connections are
    /// closed after each answer: load balancers need a moment to notice. Left out, it is 5 seconds,
    /// and nothing in development.
    pub drain_delay: Option<Span>,
    /// How long requests in flight may take to end after that.
    pub drain_timeout: Span,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allow_plain: false,
            tls: Tls::default(),
            trusted_proxies: Vec::new(),
            max_connections: 4096,
            header_timeout: Span::seconds(10),
            idle_timeout: Span::seconds(75),
            drain_delay: None,
            drain_timeout: Span::seconds(30),
        }
    }
}

impl Http {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        self.tls.contradictions(found);
        let is_plain = self.tls.certificate.is_none();
        if is_plain && !self.listen.ip().is_loopback() && !self.allow_plain {
            found.push(format!(
                "http.listen = \"{}\" can be reached from other machines without TLS: set http.tls.certificate \
                 and http.tls.key, or listen on 127.0.0.1, or set http.allow_plain = true where a proxy ends TLS \
                 for this service",
                self.listen
            ));
        }
        if self.max_connections == 0 {
            found.push("http.max_connections must be at least 1".to_owned());
        }
        for (setting, span) in [
            ("header_timeout", self.header_timeout),
            ("idle_timeout", self.idle_timeout),
        ] {
            if span < Span::millis(100) {
                found.push(format!("http.{setting} must be at least 100ms"));
            }
        }
    }
}
