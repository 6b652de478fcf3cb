//! The time limit for the body of a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::time::{Instant, timeout_at};

/// The deadline of a body, and whether it is awaited. Clones share it.
#[derive(Clone, Debug)]
pub struct Arrival {
    deadline: Instant,
    is_awaited: Arc<AtomicBool>,
}

impl Arrival {
    pub(super) fn until(deadline: Instant) -> Self {
        Self { deadline, is_awaited: Arc::default() }
    }

    /// The result of `reading` a body; `None` after the deadline.
    pub async fn in_time<T>(&self, reading: impl Future<Output = T>) -> Option<T> {
        self.is_awaited.store(true, Ordering::Relaxed);
        let read = timeout_at(self.deadline, reading).await.ok()?;
        self.is_awaited.store(false, Ordering::Relaxed);
        Some(read)
    }

    /// Whether the deadline passed, or passes, before the body arrives.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited.load(Ordering::Relaxed)
    }
}
