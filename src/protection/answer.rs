//! What leaves, and the proof that it may.

use std::fmt;

use super::Refusal;
use crate::audit::Receipt;
use crate::wiped::Wiped;

/// An answer in JSON. It may hold a plaintext, so it wipes itself.
pub struct Body(pub(super) Wiped<String>);

/// What is answered to one request. It was recorded before it came to be.
#[derive(Debug)]
pub struct Answer {
    outcome: Result<Body, Refusal>,
}

impl Answer {
    pub(super) fn new(_: Receipt, outcome: Result<Body, Refusal>) -> Self {
        Self { outcome }
    }

    /// The body of a success, or why there is none.
    ///
    /// # Errors
    /// The refusal that is answered instead.
    pub fn into_outcome(self) -> Result<Body, Refusal> {
        self.outcome
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body([redacted])")
    }
}
