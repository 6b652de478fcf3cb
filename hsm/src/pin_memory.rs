//! The memory of refused PINs, which the user of this crate provides.

use std::fmt;

use secrecy::SecretString;

/// Remembers refused PINs longer than a process lives. Some tokens report no failed logins, so that
/// restarts could lock them. Threads of this crate call it, so it can block.
pub trait PinMemory: fmt::Debug + Send + Sync {
    /// Begins an attempt to log in. Other processes that log in to the token wait until the attempt
    /// ends.
    ///
    /// # Errors
    /// The memory cannot be read. The PIN is then not tried.
    fn begin(&self, token: &str, serial: &str, pin: &SecretString) -> Result<PinAttempt, String>;
}

/// An attempt to log in with a PIN.
pub struct PinAttempt {
    /// Whether the token refused this PIN and has accepted none since.
    pub is_refused: bool,
    /// Whether the token refused another PIN and has accepted none since, so that its warning about a wrong
    /// PIN says nothing about this one.
    pub refused_another: bool,
    /// Records whether the token accepted the PIN. Not called if the token gave no answer.
    pub record: Box<dyn FnOnce(bool)>,
}

impl fmt::Debug for PinAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinAttempt").field("is_refused", &self.is_refused).finish_non_exhaustive()
    }
}
