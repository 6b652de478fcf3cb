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
    /// The number of whole days to keep. Older days are detached from the audit log. Default: keep
    /// all.
    pub retention_days: Option<u32>,
    /// Also drops the tables of detached days. By default they stay in the database for its owner
    /// to archive.
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
            found.push("audit.retention_days must be from 1 to 36500".to_owned());
        }
        if self.drop_retired && self.retention_days.is_none() {
            found.push("audit.drop_retired requires audit.retention_days".to_owned());
        }
    }
}
