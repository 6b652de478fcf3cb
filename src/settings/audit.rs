//! Settings of the audit log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// The audit log.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Audit {
    /// The maximum number of records that wait for a commit. Further requests are refused.
    pub queue: usize,
    /// The maximum time to commit a record. After it, the request is refused.
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
        if self.deadline < Span::millis(100) {
            found.push("audit.deadline must be at least 100ms".to_owned());
        }
    }
}
