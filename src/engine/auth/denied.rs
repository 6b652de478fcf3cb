//! Why a request is not authenticated.

use super::identity::CredentialRefused;
use crate::catalog::Unreadable;

/// A request is not authenticated.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Denied {
    /// Its credential is not valid.
    #[error(transparent)]
    Refused(#[from] CredentialRefused),
    /// Its credential cannot be checked now.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Its address has too many look-ups of unknown credentials.
    #[error("the address has too many look-ups")]
    Crowded,
}
