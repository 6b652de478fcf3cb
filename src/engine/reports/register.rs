//! The register of keys.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Day, KeyEntry, RegisterFilter};
use formats::tlog::Checkpoint;

/// The keys of this installation at a checkpoint.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRegister)]
pub struct Register {
    /// The last day whose uses count.
    pub at: Day,
    /// The checkpoints of the audit logs at which the report was made.
    pub checkpoints: Checkpoints,
    /// The keys that the report contains.
    pub filter: RegisterFilter,
    /// The keys, in the order in which they were created.
    pub keys: Vec<KeyEntry>,
}

/// The checkpoints of both audit logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Checkpoints {
    /// The log of operations.
    pub operations: LogCheckpoint,
    /// The log of management events. All changes in the report are in it.
    pub management: LogCheckpoint,
}

/// A checkpoint without its signatures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LogCheckpoint {
    /// The name of the log.
    pub origin: String,
    /// The number of records.
    pub size: u64,
    /// The root of the tree, in base64.
    pub root: String,
}

impl Register {
    /// The report in JSON.
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Serializing plain fields to memory does not fail.
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }
}

impl From<Checkpoint> for LogCheckpoint {
    fn from(checkpoint: Checkpoint) -> Self {
        let Checkpoint { origin, size, root } = checkpoint;
        Self { origin, size, root: root.to_string() }
    }
}

impl std::fmt::Display for LogCheckpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { origin, size, root } = self;
        write!(f, "{origin} {size} {root}")
    }
}
