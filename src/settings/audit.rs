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
    /// Whole days for which the trail is kept; older ones are taken out of it. Left out, all are
    /// kept.
    pub retention_days: Option<u32>,
    /// Also drops the tables of the days that were taken out; otherwise they stay in the database,
    /// for its owner to move elsewhere.
    pub drop_retired: bool,
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            queue: 4096,
            deadline: Span::seconds(5),
            retention_days: None,
            drop_retired: false,
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
        if self
            .retention_days
            .is_some_and(|days| !(1..=36_500).contains(&days))
        {
            found.push("audit.retention_days must be between 1 and 36500".to_owned());
        }
        if self.drop_retired && self.retention_days.is_none() {
            found.push("audit.drop_retired is of no use without audit.retention_days".to_owned());
        }
    }
}
