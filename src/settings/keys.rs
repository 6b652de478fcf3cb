//! Settings of the key lifecycle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// The key lifecycle.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Keys {
    /// The time between the deletion of a key and its destruction. Until then the deletion can be
    /// reverted.
    pub destruction_delay: Span,
    /// Accepts private keys in plaintext over TLS. Default: only in development.
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
