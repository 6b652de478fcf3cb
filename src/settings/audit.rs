//! Settings of the audit trail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// The audit trail.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Audit {
    /// Records that may wait to be committed; past it requests are refused.
    pub queue: usize,
    /// How long a record may take to be committed before its request is refused.
    pub deadline: Span,
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            queue: 4096,
            deadline: Span::seconds(5),
        }
    }
}

impl Audit {
    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if self.queue == 0 {
            found.push("audit.queue must be at least 1".to_owned());
        }
    }
}
