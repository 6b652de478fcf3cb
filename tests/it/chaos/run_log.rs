//! What is written down while a run goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::check::Violation;
use super::history::{Attempt, Change, History, Moment, Span, State, Timeline};

/// Clones write into the same one.
#[derive(Clone)]
pub(crate) struct RunLog {
    began: Instant,
    entries: Arc<Mutex<RunLogEntries>>,
}

/// All that is known.
#[derive(Default)]
pub(crate) struct RunLogEntries {
    pub(crate) history: History,
    /// What was done to the service, in words.
    pub(crate) events: Vec<(Span, String)>,
    /// While one of these lasted, instances came and went, or could not be counted.
    pub(crate) instance_changes: Vec<Span>,
    /// While one of these lasted, the place where all count was away.
    pub(crate) limiter_outages: Vec<Span>,
    /// What was broken so plainly that no history is needed to tell.
    pub(crate) broken: Vec<Violation>,
}

/// The kinds of what administrators change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    ApiKey(usize),
    Policy(usize),
    Key(usize),
}

impl RunLog {
    pub(crate) fn begin() -> Self {
        Self {
            began: Instant::now(),
            entries: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> Moment {
        self.began.elapsed()
    }

    pub(crate) fn since(&self, from: Moment) -> Span {
        Span {
            from,
            to: self.now(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RunLogEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn attempted(&self, attempt: Attempt) {
        self.lock().history.attempts.push(attempt);
    }

    pub(crate) fn event(&self, from: Moment, what: impl Into<String>) {
        let span = self.since(from);
        self.lock().events.push((span, what.into()));
    }

    pub(crate) fn broken(&self, violation: Violation) {
        self.lock().broken.push(violation);
    }

    /// A change is asked for from now on; gives what fills in what came of it.
    pub(crate) fn changing(&self, of: Of, to: State) -> usize {
        let began = self.now();
        let mut entries = self.lock();
        let changes = &mut entries.timeline(of).changes;
        changes.push(Change {
            to,
            began,
            done: None,
            by: None,
        });
        changes.len() - 1
    }

    pub(crate) fn changed(&self, of: Of, which: usize, by: Option<super::history::Incarnation>) {
        let now = self.now();
        let mut entries = self.lock();
        let change = &mut entries.timeline(of).changes[which];
        (change.done, change.by) = (Some(now), by);
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
