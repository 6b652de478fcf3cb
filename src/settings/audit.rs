//! Settings of the audit log.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Forward, Span, Stage};

/// The audit log.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Audit {
    /// The maximum number of records that wait for a commit. Further requests are refused.
    pub queue: usize,
    /// The maximum time to commit a record. After this time, Sealward refuses the request.
    pub deadline: Span,
    /// The tamper-evident logs of the records.
    pub seal: Seal,
    /// Forwarding of sealed records to a collector.
    pub forward: Forward,
}

/// Sealing: the tamper-evident logs of the records. It starts after `sealward audit init`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Seal {
    /// The interval in which committed records are sealed and checkpoints are signed.
    pub interval: Span,
    /// The name of this installation in checkpoints, such as `example.com/sealward`. The origins of the
    /// logs are this name with `/operations` and `/management`. It takes effect at `sealward audit init`.
    pub origin: String,
    /// A file outside of the database that keeps the latest checkpoints. Sealing stops if the logs do not
    /// extend them. Instances should share it.
    pub anchor: Option<PathBuf>,
    /// Whether checkpoints and hashes are served without authentication, below `/audit/log`. Records are
    /// not. It needs an Ed25519 key.
    pub publish: bool,
    /// The minimum time between two published checkpoints.
    pub publish_interval: Span,
}

impl Default for Seal {
    fn default() -> Self {
        Self {
            interval: Span::seconds(1),
            origin: "sealward".to_owned(),
            anchor: None,
            publish: false,
            publish_interval: Span::seconds(60 * 60),
        }
    }
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            queue: 4096,
            deadline: Span::seconds(5),
            seal: Seal::default(),
            forward: Forward::default(),
        }
    }
}

impl Audit {
    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        self.forward.contradictions(stage, found);
        if self.queue == 0 {
            found.push("audit.queue must be at least 1".to_owned());
        }
        if self.deadline < Span::millis(100) {
            found.push("audit.deadline must be at least 100ms".to_owned());
        }
        if self.seal.interval < Span::millis(10) {
            found.push("audit.seal.interval must be at least 10ms".to_owned());
        }
        if self.seal.publish_interval < Span::millis(10) {
            found.push("audit.seal.publish_interval must be at least 10ms".to_owned());
        }
        let origin = &self.seal.origin;
        if origin.is_empty() || origin.contains(|it: char| it.is_whitespace() || it == '+') {
            found.push("audit.seal.origin must be a name without spaces and plus signs".to_owned());
        }
    }
}
