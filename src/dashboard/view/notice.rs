//! The result of a change, shown on the next page.

use formats::closed_set;

closed_set! {
    /// A completed change. The URL carries only its name, so a link cannot inject text.
    pub(in crate) enum Notice: "Notice" {
        Created = "created",
        Saved = "saved",
        Deleted = "deleted",
        Revoked = "revoked",
        Rotated = "rotated",
        Restored = "restored",
        PolicyRestored = "policy_restored",
        Frozen = "frozen",
        ServiceFrozen = "service_frozen",
        Unfrozen = "unfrozen",
        Proposed = "proposed",
        Approved = "approved",
        Rejected = "rejected",
        Withdrawn = "withdrawn",
        Locked = "locked",
        Unlocked = "unlocked",
    }
}

impl Notice {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Created => "Created.",
            Self::Saved => "Your changes are saved and in effect.",
            Self::Deleted => "Deleted.",
            Self::Revoked => "The API key is revoked and can no longer be used.",
            Self::Rotated => {
                "The new key is active. The previous key is retired and still opens its envelopes."
            }
            Self::Frozen => "Everything is frozen within a second.",
            Self::ServiceFrozen => "The service is frozen within a second, on all instances.",
            Self::Unfrozen => "The freeze of everything is over.",
            Self::Proposed => "The change awaits approval. Nothing else has happened yet.",
            Self::Approved => "Your approval is recorded.",
            Self::Rejected => "The change is rejected.",
            Self::Withdrawn => "The change is withdrawn.",
            Self::Locked => "The person is locked, on all instances.",
            Self::Unlocked => "The person is unlocked and can sign in again.",
            Self::PolicyRestored => {
                "The policy is restored and inactive. Its envelopes can be opened under it."
            }
            Self::Restored => "The key is restored and disabled until you enable it.",
        }
    }
}
