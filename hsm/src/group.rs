//! Operations whose answers arrive together.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Operations of one task. Their answers are sent when none of them is outstanding, so that the task
/// wakes up once and not once for each.
#[derive(Default)]
pub(crate) struct Group(Mutex<GroupState>);

#[derive(Default)]
struct GroupState {
    outstanding: usize,
    answers: Vec<SendAnswer>,
}

/// Sends an answer.
type SendAnswer = Box<dyn FnOnce() + Send>;

/// An operation without an answer.
pub(crate) struct Outstanding(Arc<Group>);

impl Group {
    /// Adds an operation.
    pub(crate) fn add(self: Arc<Self>) -> Outstanding {
        self.lock().outstanding += 1;
        Outstanding(self)
    }

    /// Sends the answers that exist.
    pub(crate) fn send(&self) {
        let answers = mem::take(&mut self.lock().answers);
        answers.into_iter().for_each(|answer| answer());
    }

    fn lock(&self) -> MutexGuard<'_, GroupState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outstanding {
    /// Keeps the answer until the other operations have theirs.
    pub(crate) fn answer(self, answer: impl FnOnce() + Send + 'static) {
        self.0.lock().answers.push(Box::new(answer));
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        let outstanding = {
            let mut state = self.0.lock();
            state.outstanding -= 1;
            state.outstanding
        };
        if outstanding == 0 {
            self.0.send();
        }
    }
}
