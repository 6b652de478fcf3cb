//! Settings that limit one request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// Limits of one request.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Limits {
    /// The maximum size of a request body, in bytes.
    pub max_body_bytes: usize,
    /// The maximum time to answer a request.
    pub request_timeout: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 1024 * 1024,
            request_timeout: Span::seconds(30),
        }
    }
}

impl Limits {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if self.max_body_bytes < 1024 {
            found.push("limits.max_body_bytes must be at least 1024".to_owned());
        }
        if self.request_timeout < Span::millis(100) {
            found.push("limits.request_timeout must be at least 100ms".to_owned());
        }
    }
}
