//! The result of a change, shown on the next page.

/// A completed change. The URL carries only its name, so a link cannot inject text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dashboard) enum Notice {
    Created,
    Saved,
    Deleted,
    Revoked,
    Rotated,
    Restored,
}

impl Notice {
    const ALL: [Self; 6] = [
        Self::Created,
        Self::Saved,
        Self::Deleted,
        Self::Revoked,
        Self::Rotated,
        Self::Restored,
    ];

    pub(in crate::dashboard) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.name() == name)
    }

    pub(in crate::dashboard) const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Saved => "saved",
            Self::Deleted => "deleted",
            Self::Revoked => "revoked",
            Self::Rotated => "rotated",
            Self::Restored => "restored",
        }
    }

    pub(in crate::dashboard) const fn text(self) -> &'static str {
        match self {
            Self::Created => "Created.",
            Self::Saved => "Your changes are saved and in effect.",
            Self::Deleted => "Deleted.",
            Self::Revoked => "The API key is revoked and can no longer be used.",
            Self::Rotated => {
                "The new key is active. The former key is retired and still opens its envelopes."
            }
            Self::Restored => "The key is restored and disabled until you enable it.",
        }
    }
}
