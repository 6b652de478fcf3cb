//! The reasons of a failed sign-in, as the sign-in page shows them.

use axum::http::StatusCode;

/// The reason of a failed sign-in. All invalid keys have the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignInRefused {
    BadKey,
    KeysOff,
    TooOften,
    /// The sign-in at the provider cannot be finished.
    Unfinished,
    /// The provider does not confirm the person of a session.
    Ended,
    /// The provider is unavailable.
    ProviderAway,
    /// No group of the person has a role.
    NoRole,
    /// The person is locked.
    Locked,
}

impl SignInRefused {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::BadKey | Self::Unfinished | Self::Ended => StatusCode::UNAUTHORIZED,
            Self::KeysOff | Self::NoRole | Self::Locked => StatusCode::FORBIDDEN,
            Self::TooOften => StatusCode::TOO_MANY_REQUESTS,
            Self::ProviderAway => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Whether the reason belongs to the field of the admin key.
    pub(super) fn is_about_key(self) -> bool {
        match self {
            Self::BadKey => true,
            Self::KeysOff
            | Self::TooOften
            | Self::Unfinished
            | Self::Ended
            | Self::ProviderAway
            | Self::NoRole
            | Self::Locked => false,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::BadKey => {
                "This key is not accepted. Sign in with an active admin key that allows your network."
            }
            Self::KeysOff => "Admin keys cannot sign in here. Use single sign-on.",
            Self::TooOften => "Too many attempts from your address. Wait a minute, then try again.",
            Self::Unfinished => {
                "The sign-in was not completed. It may have taken too long or started in another \
                 browser. Sign in again."
            }
            Self::Ended => {
                "Your session has ended, because the sign-in service of your organization does not confirm it. \
                 Sign in again."
            }
            Self::ProviderAway => {
                "The sign-in service of your organization is unavailable. Try again in a moment."
            }
            Self::NoRole => {
                "Your account has no role in Sealward: none of your groups is assigned to one. Ask \
                 an administrator for access, or sign in with another account."
            }
            Self::Locked => "Your account is locked in Sealward. Ask an owner to unlock it.",
        }
    }
}
