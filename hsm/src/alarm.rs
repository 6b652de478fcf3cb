//! What a keeper sleeps on.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Rings are gathered: however many come while the keeper is busy, it wakes once.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    inner: Mutex<Inner>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    rung: bool,
    closed: bool,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    Up,
    Closed,
}

impl Alarm {
    pub(crate) fn ring(&self) {
        self.lock().rung = true;
        self.bell.notify_all();
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// Sleeps until a ring or until the time is out.
    pub(crate) fn wait(&self, patience: Duration) -> Woken {
        self.sleep(patience, true)
    }

    /// Sleeps through all rings.
    pub(crate) fn pause(&self, time: Duration) -> Woken {
        self.sleep(time, false)
    }

    fn sleep(&self, time: Duration, light: bool) -> Woken {
        let until = Instant::now() + time;
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return Woken::Closed;
            }
            let now = Instant::now();
            if (light && inner.rung) || now >= until {
                if light {
                    inner.rung = false;
                }
                return Woken::Up;
            }
            inner = self
                .bell
                .wait_timeout(inner, until - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
