//! Settings of the listener for metrics.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where metrics are told, without TLS and without a key: they name tokens, and no service.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Metrics {
    /// Address and port, as in `127.0.0.1:9464`; metrics are off where this is left out.
    pub listen: Option<SocketAddr>,
    /// Allows an address that other machines reach; only in a network of one's own.
    pub allow_plain: bool,
}

impl Metrics {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if let Some(listen) = self.listen
            && !listen.ip().is_loopback()
            && !self.allow_plain
        {
            found.push(format!(
                "metrics.listen = \"{listen}\" can be reached from other machines without TLS: listen on \
                 127.0.0.1, or set metrics.allow_plain = true in a network of your own"
            ));
        }
    }
}
