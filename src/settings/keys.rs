//! Settings of a key's life.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// The life of keys.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Keys {
    /// How long a deleted key can still be brought back.
    pub destruction_delay: Span,
    /// Accepts private keys in plaintext over TLS. Left out, only development does.
    pub allow_plaintext_import: Option<bool>,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            destruction_delay: Span::seconds(7 * 24 * 60 * 60),
            allow_plaintext_import: None,
        }
    }
}
