//! The settings that decide about keys.

use std::time::Duration;

/// The settings that decide about keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyRules {
    /// How long a deleted key can be restored.
    pub destruction_delay: Duration,
    /// How long a signing or data key stays active beside its successor.
    pub rotation_overlap: Duration,
    /// Whether requests may have keys in plaintext.
    pub plaintext_import: bool,
    /// Whether keys that can leave the token may be adopted.
    pub extractable: bool,
}
