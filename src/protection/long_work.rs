//! Work that takes long for its size, such as the canonical form of a large value.

use std::sync::Arc;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;

/// The number of bytes from which work leaves the threads that serve requests. Less takes at most
/// about 3 ms.
const LARGE: usize = 16 * 1024;

/// Runs long work outside the threads that serve requests. Half of the processors remain for requests.
/// Clones share the limit.
#[derive(Clone, Debug)]
pub(super) struct LongWork(Arc<Semaphore>);

impl LongWork {
    /// A limit for this machine.
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism();
        let half = processors.map_or(1, |processors| processors.get().div_ceil(2));
        Self(Arc::new(Semaphore::new(half)))
    }

    /// Runs work on `size` bytes. Large work waits for its turn.
    pub(super) async fn run<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        // A runtime with one thread cannot hand its tasks to another one.
        if size < LARGE || Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
            return work();
        }
        // The semaphore is never closed.
        let _turn = self.0.acquire().await;
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
        let (served, is_served) = mpsc::channel();
        let large = tokio::spawn(async move {
            let work = move || is_served.recv_timeout(Duration::from_secs(60));
            LongWork::new().run(LARGE, work).await
        });
        let request = tokio::spawn(async move { served.send(()) });
        assert_eq!(large.await.unwrap(), Ok(()));
        request.await.unwrap().unwrap();
    }
}
