//! How long operations take, reported to the code that opened the tokens.

use std::fmt;
use std::time::Duration;

/// Receives the durations of operations.
pub trait Observer: fmt::Debug + Send + Sync {
    /// An operation on the token with this label waited in the queue for `queued` and then ran for
    /// `ran`. Worker threads call it, so it must not block.
    fn operation(&self, token: &str, queued: Duration, ran: Duration);
}
