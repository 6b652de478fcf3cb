//! The outcomes of requests.

use formats::closed_set;

closed_set! {
    /// The outcome of the request.
    pub enum Outcome: "Outcome" {
        /// The operation was done.
        Done = "done",
        /// The policy is not active, and the payload was returned unprotected.
        PassedThrough = "passed_through",
        /// The policy is not active, and the payload was discarded.
        Dropped = "dropped",
        /// The operation failed.
        Failed = "failed",
        /// The request was refused.
        Refused = "refused",
    }
}

/// The status, error code and outcome of a refused request.
pub(super) type RefusedAnswer = (u16, Option<&'static str>, Outcome);
