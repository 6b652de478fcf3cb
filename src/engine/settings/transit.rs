//! Settings of the Transit API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The API of the Transit engine of Vault and OpenBao, for their clients.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Transit {
    /// Answers requests to `/v1/`. Otherwise they are 404.
    pub enabled: bool,
    /// The name of the engine in paths, such as `/v1/transit/encrypt/orders`. Some clients only know
    /// `transit`.
    pub mount: String,
}

impl Default for Transit {
    fn default() -> Self {
        Self { enabled: false, mount: "transit".to_owned() }
    }
}

impl Transit {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if self.mount.is_empty() || !self.mount.bytes().all(is_plain) {
            found.push("transit.mount must be letters, digits, hyphens and underscores".to_owned());
        }
        if matches!(self.mount.as_str(), "auth" | "sys") {
            found.push(format!("transit.mount must not be {}", self.mount));
        }
    }
}
