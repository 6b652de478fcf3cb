//! The log of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::check::Violation;
use super::history::{Attempt, Change, History, Moment, Span, State, Timeline};

/// Clones write to the same log.
#[derive(Clone)]
pub struct RunLog {
    began: Instant,
    entries: Arc<Mutex<RunLogEntries>>,
}

/// The entries of the log.
#[derive(Default)]
pub struct RunLogEntries {
    pub history: History,
    /// Descriptions of faults and changes.
    pub events: Vec<(Span, String)>,
    /// The times at which instances started or stopped, or could not be counted.
    pub instance_changes: Vec<Span>,
    /// The times at which the shared limiter was unavailable.
    pub limiter_outages: Vec<Span>,
    /// Violations that are evident without the history.
    pub violated: Vec<Violation>,
}

/// The target of a change.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    ApiKey(usize),
    Policy(usize),
    Key(usize),
}

impl RunLog {
    pub fn begin() -> Self {
        Self { began: Instant::now(), entries: Arc::default() }
    }

    pub fn now(&self) -> Moment {
        self.began.elapsed()
    }

    pub fn since(&self, from: Moment) -> Span {
        Span { from, to: self.now() }
    }

    pub fn lock(&self) -> MutexGuard<'_, RunLogEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn attempted(&self, attempt: Attempt) {
        self.lock().history.attempts.push(attempt);
    }

    pub fn event(&self, from: Moment, what: impl Into<String>) {
        let span = self.since(from);
        self.lock().events.push((span, what.into()));
    }

    pub fn violated(&self, violation: Violation) {
        self.lock().violated.push(violation);
    }

    /// Records the start of a change and returns its index for the result.
    pub fn changing(&self, of: Of, to: State) -> usize {
        let began = self.now();
        let mut entries = self.lock();
        let changes = &mut entries.timeline(of).changes;
        changes.push(Change { to, began, confirmed: None, by: None });
        changes.len() - 1
    }

    pub fn changed(&self, of: Of, which: usize, by: Option<super::history::Incarnation>) {
        let now = self.now();
        let mut entries = self.lock();
        let change = &mut entries.timeline(of).changes[which];
        (change.confirmed, change.by) = (Some(now), by);
    }
}

impl RunLogEntries {
    fn timeline(&mut self, of: Of) -> &mut Timeline {
        match of {
            Of::ApiKey(which) => &mut self.history.api_keys[which],
            Of::Policy(which) => &mut self.history.policies[which],
            Of::Key(which) => &mut self.history.keys[which],
        }
    }
}
