//! How one thread wakes another that sleeps.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Requests are merged: the sleeper wakes once for all that came while it was busy.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    raised: bool,
    /// When the sleeper is to wake at the latest.
    due: Option<Instant>,
    closed: bool,
}

impl Signal {
    pub(crate) fn raise(&self) {
        self.lock().raised = true;
        self.changed.notify_all();
    }

    /// Wakes the sleeper after this time, unless it wakes earlier.
    pub(crate) fn raise_within(&self, time: Duration) {
        let mut state = self.lock();
        if state.due.is_none() {
            state.due = Some(Instant::now() + time);
            self.changed.notify_all();
        }
    }

    /// Ends the present sleep and all later ones.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Sleeps until a request or for this time, and takes the request. False once closed.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let mut state = self.sleep(time, |state, end| match state.raised {
            true => None,
            false => Some(state.due.map_or(end, |due| due.min(end))),
        });
        state.raised = false;
        state.due = None;
        !state.closed
    }

    /// Sleeps for this time, whatever is requested. False once closed.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        !self.sleep(time, |_, end| Some(end)).closed
    }

    /// Sleeps until this is closed or until the time that the state determines, given the usual end.
    fn sleep(
        &self,
        time: Duration,
        until: impl Fn(&SignalState, Instant) -> Option<Instant>,
    ) -> MutexGuard<'_, SignalState> {
        let end = Instant::now() + time;
        let mut state = self.lock();
        while let Some(until) = until(&state, end) {
            let left = until.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                break;
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
