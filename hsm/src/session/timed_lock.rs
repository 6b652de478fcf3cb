//! A lock with a time limit, for calls whose holder may hang inside the library.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct TimedLock {
    taken: Mutex<bool>,
    freed: Condvar,
}

/// Frees the lock when it is dropped.
#[derive(Debug)]
pub(super) struct Guard<'a>(&'a TimedLock);

impl TimedLock {
    /// Takes the lock; none when it is not free within the time limit.
    pub(super) fn take(&self, limit: Duration) -> Option<Guard<'_>> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, waited) = self
            .freed
            .wait_timeout_while(taken, limit, |taken| *taken)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return None;
        }
        *taken = true;
        Some(Guard(self))
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_and_is_freed() {
        let lock = TimedLock::default();
        let held = lock.take(Duration::ZERO);
        assert!(held.is_some());
        assert!(lock.take(Duration::ZERO).is_none());
        drop(held);
        assert!(lock.take(Duration::ZERO).is_some());
    }
}
