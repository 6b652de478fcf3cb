//! The answer to a request, which exists only after its audit record is committed.

use std::fmt;

use tracing::Instrument as _;

use super::Refusal;
use crate::audit::{Pending, Receipt, Unrecorded};
use crate::telemetry::step;
use formats::wiped::Wiped;

/// An answer in JSON. It may hold a plaintext, so it wipes itself when it is dropped.
pub struct Body(pub(super) Wiped<Vec<u8>>);

/// The answer to one request. It is made from the receipt of the request's audit record, which only
/// the committed record gives.
///
/// ```compile_fail,E0451
/// use sealward_engine::protection::{Answer, Refusal};
///
/// fn answer() -> Answer {
///     Answer { outcome: Err(Refusal::PolicyNotFound) }
/// }
/// ```
///
/// ```compile_fail,E0423
/// fn receipt() -> sealward_engine::audit::Receipt {
///     sealward_engine::audit::Receipt(())
/// }
/// ```
#[derive(Debug)]
pub struct Answer<T = Body> {
    outcome: Result<T, Refusal>,
}

impl<T> Answer<T> {
    pub(super) fn new(_: Receipt, outcome: Result<T, Refusal>) -> Self {
        Self { outcome }
    }

    /// The body of a success.
    pub fn into_outcome(self) -> Result<T, Refusal> {
        self.outcome
    }
}

/// An outcome whose record is handed over, and may not be committed yet.
pub(super) struct PendingAnswer<T> {
    pending: Pending,
    outcome: Result<T, Refusal>,
}

impl<T> PendingAnswer<T> {
    pub(super) fn new(pending: Pending, outcome: Result<T, Refusal>) -> Self {
        Self { pending, outcome }
    }

    /// Waits for the receipt. A record is committed even if nobody waits for it.
    pub(super) async fn answer(self) -> Result<Answer<T>, Unrecorded> {
        let receipt = self.pending.receipt().instrument(step!("audit")).await?;
        Ok(Answer::new(receipt, self.outcome))
    }
}

impl Body {
    /// A text in JSON.
    pub fn new(text: Wiped<Vec<u8>>) -> Self {
        Self(text)
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body([redacted])")
    }
}
