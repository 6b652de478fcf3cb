//! How one thread wakes another that sleeps.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Requests are merged: the sleeper wakes once for all that came while it was busy.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    raised: bool,
    closed: bool,
}

impl Signal {
    pub(crate) fn raise(&self) {
        self.lock().raised = true;
        self.changed.notify_all();
    }

    /// Ends the present sleep and all later ones.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Sleeps until a request or for this time, and takes the request. False once closed.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let mut state = self.sleep(time, |state| !state.closed && !state.raised);
        state.raised = false;
        !state.closed
    }

    /// Sleeps for this time, whatever is requested. False once closed.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        !self.sleep(time, |state| !state.closed).closed
    }

    fn sleep(&self, time: Duration, awaited: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let sleep = |state| {
            self.changed
                .wait_timeout_while(state, time, |state| awaited(state))
        };
        sleep(self.lock()).unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
