//! The settings that decide about keys.

use std::time::Duration;

use crate::settings::Settings;

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

impl KeyRules {
    /// The rules in these settings.
    pub fn of(settings: &Settings) -> Self {
        Self {
            destruction_delay: settings.keys.destruction_delay.0,
            rotation_overlap: settings.keys.rotation_overlap.0,
            plaintext_import: settings.plaintext_import_allowed(),
            extractable: settings.extractable_allowed(),
        }
    }
}
