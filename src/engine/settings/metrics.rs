//! Settings of the metrics listener.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The metrics listener. It has neither TLS nor authentication; metrics name tokens but no
/// services.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Metrics {
    /// Address and port, for example `127.0.0.1:9464`. Default: metrics are off.
    pub listen: Option<SocketAddr>,
    /// Allows an address that other machines can reach. Use it only in a private network.
    pub allow_plain: bool,
}

impl Metrics {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if let Some(listen) = self.listen
            && !listen.ip().is_loopback()
            && !self.allow_plain
        {
            found.push(format!(
                "metrics.listen = \"{listen}\" is reachable from other machines without TLS: listen on \
                 127.0.0.1, or set metrics.allow_plain = true in a private network"
            ));
        }
    }
}
