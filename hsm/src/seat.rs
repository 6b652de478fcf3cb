//! A thread that calls into the library, as the overseer sees it. The C library may keep a thread
//! forever; then the thread is written off and another takes its place.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Worker,
    /// Runs the canary and brings the token back.
    Keeper,
}

#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) role: Role,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    call: Option<Call>,
    written_off: bool,
}

/// A stay inside the library.
#[derive(Debug, Clone, Copy)]
struct Call {
    since: Instant,
    allowance: Duration,
    write: bool,
}

/// What the overseer learns when it writes a thread off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrittenOff {
    pub(crate) role: Role,
    /// Whether it was writing to the token.
    pub(crate) write: bool,
}

impl Seat {
    pub(crate) fn new(role: Role) -> Self {
        Self {
            role,
            inner: Mutex::default(),
        }
    }

    /// Calls into the library, for so long at most before the thread counts as hung.
    pub(crate) fn during<T>(
        &self,
        allowance: Duration,
        write: bool,
        call: impl FnOnce() -> T,
    ) -> T {
        self.lock().call = Some(Call {
            since: Instant::now(),
            allowance,
            write,
        });
        let result = call();
        self.lock().call = None;
        result
    }

    /// Whether the thread was given up while it was inside, and must go.
    pub(crate) fn is_written_off(&self) -> bool {
        self.lock().written_off
    }

    /// Whether the thread is writing to the token.
    pub(crate) fn is_writing(&self) -> bool {
        self.lock().call.is_some_and(|call| call.write)
    }

    /// Gives the thread up if it is inside for longer than it may. The time before `busy_until`
    /// does not count: the token was at work for somebody else.
    pub(crate) fn write_off_if_hung(&self, busy_until: Option<Instant>) -> Option<WrittenOff> {
        let mut inner = self.lock();
        let call = inner.call.filter(|_| !inner.written_off)?;
        let since = busy_until.map_or(call.since, |busy| busy.max(call.since));
        if since.elapsed() <= call.allowance {
            return None;
        }
        inner.written_off = true;
        Some(WrittenOff {
            role: self.role,
            write: call.write,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_outside_the_library_is_never_hung() {
        let seat = Seat::new(Role::Worker);
        assert_eq!(seat.write_off_if_hung(None), None);
        assert!(!seat.is_written_off());
    }

    #[test]
    fn a_thread_that_stays_too_long_is_written_off_once() {
        let seat = Seat::new(Role::Worker);
        seat.during(Duration::ZERO, true, || {
            let lost = WrittenOff {
                role: Role::Worker,
                write: true,
            };
            assert_eq!(seat.write_off_if_hung(None), Some(lost));
            assert_eq!(seat.write_off_if_hung(None), None);
        });
        assert!(seat.is_written_off());
    }

    #[test]
    fn time_the_token_spent_on_somebody_else_does_not_count() {
        let seat = Seat::new(Role::Keeper);
        seat.during(Duration::ZERO, false, || {
            let later = Instant::now() + Duration::from_secs(1);
            assert_eq!(seat.write_off_if_hung(Some(later)), None);
        });
    }
}
