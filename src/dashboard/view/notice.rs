//! What was just done, told on the page that follows.

/// A change that went well. It travels in the address by its name, so that nobody can have a page
/// say what they like.
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
            Self::Created => "It was created.",
            Self::Saved => "Your changes are saved and hold from now on.",
            Self::Deleted => "It was deleted.",
            Self::Revoked => "The API key is revoked. It is refused from now on.",
            Self::Rotated => {
                "The new key is active. The former one is retired: it still opens what it sealed."
            }
            Self::Restored => "The key is back, and disabled until you enable it.",
        }
    }
}
