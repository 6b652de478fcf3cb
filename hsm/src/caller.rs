//! The caller of an operation, as far as the queue distinguishes callers.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::group::{Group, Outstanding};

tokio::task_local! {
    static CALLER: Caller;
}

/// Cancels the operations of some work when it is dropped.
///
/// Work that must record what a token did runs to its end even when the client has gone. Operations
/// that start inside its [`scope`](Self::scope) fail with [`TokenOut`](crate::ErrorKind::TokenOut)
/// if the guard is dropped before a worker has taken them.
#[derive(Debug)]
pub struct CancelGuard {
    /// It has no permits. The guard closes it.
    gone: Arc<Semaphore>,
    lane: u64,
}

/// What an operation knows of its caller.
///
/// A spawned task does not inherit the scope of a [`CancelGuard`]. It enters the scope of the task that
/// spawned it with [`Caller::current`] and [`Caller::scope`].
#[derive(Clone, Default)]
pub struct Caller {
    gone: Option<Arc<Semaphore>>,
    lane: u64,
    group: Option<Arc<Group>>,
}

impl CancelGuard {
    /// A guard for operations that wait in this lane of each queue. The lanes of a queue take
    /// turns, so that a caller's burst delays its own operations first.
    pub fn in_lane(lane: u64) -> Self {
        let gone = Arc::new(Semaphore::new(0));
        Self { gone, lane }
    }

    /// Runs work whose operations belong to this guard.
    pub fn scope<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let caller = Caller { gone: Some(Arc::clone(&self.gone)), lane: self.lane, group: None };
        CALLER.scope(caller, work)
    }
}

impl Default for CancelGuard {
    fn default() -> Self {
        Self::in_lane(0)
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.gone.close();
    }
}

impl Caller {
    /// The caller of the current task. Outside a scope nothing is cancelled, and the lane is 0.
    pub fn current() -> Self {
        CALLER.try_with(Self::clone).unwrap_or_default()
    }

    /// Whether the guard of the current task was dropped.
    pub fn is_gone() -> bool {
        CALLER.try_with(Self::has_gone).unwrap_or(false)
    }

    /// Runs work whose operations belong to this caller.
    pub fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CALLER.scope(self, work)
    }

    /// The same caller for operations that one task runs at the same time: their answers arrive
    /// together, so that the task wakes up once.
    pub fn together(self) -> Self {
        let group = Some(Arc::default());
        Self { group, ..self }
    }

    /// Adds an operation to the group of this caller, if it has one.
    pub(crate) fn outstanding(&self) -> Option<Outstanding> {
        self.group.clone().map(Group::add)
    }

    /// Sends the answers of the group that exist.
    pub(crate) fn send_answers(&self) {
        if let Some(group) = &self.group {
            group.send();
        }
    }

    pub(crate) fn lane(&self) -> u64 {
        self.lane
    }

    /// Whether the guard of this caller was dropped.
    pub(crate) fn has_gone(&self) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.is_closed())
    }

    /// Resolves when the guard of this caller is dropped.
    pub async fn gone(&self) {
        match &self.gone {
            // It fails once the semaphore is closed.
            Some(gone) => drop(gone.acquire().await),
            None => std::future::pending().await,
        }
    }
}
