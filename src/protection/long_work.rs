//! Work that would delay other requests if it stayed on the threads that serve them.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;

/// The cost of work per byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// Work that scans, encrypts or copies each byte.
    Low,
    /// Work that makes a canonical form.
    High,
}

/// Runs long work outside the threads that serve requests. Expensive work uses at most half of the
/// processors. Clones share the limit.
#[derive(Clone, Debug)]
pub(super) struct LongWork {
    /// One permit for each processor.
    processors: Arc<Semaphore>,
}

impl Cost {
    /// The number of bytes from which work leaves the threads that serve requests. Less takes at
    /// most about 1 ms.
    const fn threshold(self) -> usize {
        match self {
            Self::Low => 256 * 1024,
            Self::High => 16 * 1024,
        }
    }

    /// The permits that work needs.
    const fn permits(self) -> u32 {
        match self {
            Self::Low => 1,
            Self::High => 2,
        }
    }
}

impl LongWork {
    /// A limit for this machine.
    pub(super) fn new() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        let permits = processors.max(Cost::High.permits() as usize);
        Self {
            processors: Arc::new(Semaphore::new(permits)),
        }
    }

    /// Runs work on `size` bytes. Large work waits for its turn.
    pub(super) async fn run<T>(&self, cost: Cost, size: usize, work: impl FnOnce() -> T) -> T {
        // A runtime with one thread cannot hand its tasks to another one.
        if size < cost.threshold()
            || Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread
        {
            return work();
        }
        // The semaphore is never closed.
        let _turn = self.processors.acquire_many(cost.permits()).await;
        block_in_place(work)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// The runtime has one thread. If the work stayed on it, the other task could not run.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn requests_are_served_during_large_work() {
        for cost in [Cost::Low, Cost::High] {
            let (served, is_served) = mpsc::channel();
            let large = tokio::spawn(async move {
                let work = move || is_served.recv_timeout(Duration::from_secs(60));
                LongWork::new().run(cost, cost.threshold(), work).await
            });
            let request = tokio::spawn(async move { served.send(()) });
            assert_eq!(large.await.unwrap(), Ok(()), "{cost:?}");
            request.await.unwrap().unwrap();
        }
    }
}
