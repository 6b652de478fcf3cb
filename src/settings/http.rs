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
    }
}
