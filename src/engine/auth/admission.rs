//! The admission of look-ups, which unauthenticated requests can cause.

use super::Denied;

/// Admits the look-up of one request.
pub trait Admission: Send {
    /// Counts the look-up, at most once, and waits in the queue of the address. It then may do work without
    /// the database.
    fn counted(&mut self) -> impl Future<Output = Result<(), Denied>> + Send;

    /// Counts the look-up, and waits for its turn to use the database.
    fn turn(&mut self) -> impl Future<Output = Result<(), Denied>> + Send;

    /// The look-up found something, so it does not count.
    fn found(self);
}
