//! A lock that is waited for only so long: whoever holds it may hang inside the library.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: Mutex<bool>,
    freed: Condvar,
}

/// Ends the turn when it is dropped.
#[derive(Debug)]
pub(crate) struct Held<'a>(&'a Turn);

impl Turn {
    /// Takes the turn, or nothing when it does not come in time.
    pub(crate) fn take(&self, patience: Duration) -> Option<Held<'_>> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, waited) = self
            .freed
            .wait_timeout_while(taken, patience, |taken| *taken)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return None;
        }
        *taken = true;
        Some(Held(self))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_taken_by_one_and_freed() {
        let turn = Turn::default();
        let held = turn.take(Duration::ZERO);
        assert!(held.is_some());
        assert!(turn.take(Duration::ZERO).is_none());
        drop(held);
        assert!(turn.take(Duration::ZERO).is_some());
    }
}
