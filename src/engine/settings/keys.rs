//! Settings of the key lifecycle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Span, Stage};

/// The key lifecycle.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Keys {
    /// The time between the deletion of a key and its destruction. Until then the deletion can be
    /// reverted. In production it is at least 24 hours.
    pub destruction_delay: Span,
    /// How long a signing or data key stays active after the rotation job has activated its successor.
    pub rotation_overlap: Span,
    /// Accepts private keys in plaintext over TLS. Default: only in development.
    pub allow_plaintext_import: Option<bool>,
    /// In production, accepts keys from the token that are extractable or not sensitive. Other
    /// environments always accept them.
    pub allow_extractable: bool,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            destruction_delay: Span::seconds(7 * 24 * 60 * 60),
            rotation_overlap: Span::seconds(7 * 24 * 60 * 60),
            allow_plaintext_import: None,
            allow_extractable: false,
        }
    }
}

impl Keys {
    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        let least = std::time::Duration::from_secs(24 * 60 * 60);
        if stage == Stage::Production && self.destruction_delay.0 < least {
            found.push("keys.destruction_delay must be at least 24h in production".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    #[test]
    fn production_accepts_extractable_keys_only_by_its_setting() {
        let is_allowed = |environment, allow_extractable| {
            let keys = Keys { allow_extractable, ..Keys::default() };
            let settings = Settings { environment, keys, ..Settings::default() };
            settings.extractable_allowed()
        };
        assert!(!is_allowed(Stage::Production, false));
        assert!(is_allowed(Stage::Production, true));
        assert!(is_allowed(Stage::Staging, false));
        assert!(is_allowed(Stage::Development, false));
    }
}
