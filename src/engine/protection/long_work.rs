//! Work that would delay other requests if it stayed on the threads that serve them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;

use hsm::Caller;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use super::Refusal;
use crate::shares::{self, QueueFull, Share, Shares, Sharing};

/// The cost of work per byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// Work that scans, encrypts or copies each byte.
    Low,
    /// Work that makes a canonical form.
    High,
}

/// Runs long work outside the threads that serve requests. Expensive work uses at most half of the
/// processors. Services take turns. Clones share the limit.
#[derive(Clone, Debug)]
pub(super) struct LongWork {
    /// One permit for each processor. The owners are the lanes of services.
    processors: Shares<u64>,
    jobs: Arc<Jobs>,
}

/// The number of jobs that have begun, by their cost.
#[derive(Debug, Default)]
struct Jobs {
    low: AtomicU64,
    high: AtomicU64,
}

/// What metrics show of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongWorkStatus {
    /// Jobs that wait for a processor.
    pub queued: usize,
    /// Jobs that scanned, encrypted or copied a large body.
    pub low_cost: u64,
    /// Jobs that made a canonical form.
    pub high_cost: u64,
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
    const fn permits(self) -> usize {
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
        Self::on(processors.max(shares::PROCESSORS.total))
    }

    fn on(processors: usize) -> Self {
        Self {
            processors: Shares::new(Sharing { total: processors, ..shares::PROCESSORS }),
            jobs: Arc::default(),
        }
    }

    pub(super) fn status(&self) -> LongWorkStatus {
        LongWorkStatus {
            queued: self.processors.queued(),
            low_cost: self.jobs.low.load(Ordering::Relaxed),
            high_cost: self.jobs.high.load(Ordering::Relaxed),
        }
    }

    /// Runs work on `size` bytes. Large work waits in `lane` for its turn.
    ///
    /// # Errors
    /// The work fails. Large work is also refused when its client has gone or too much work waits.
    pub(super) async fn run<T, E>(
        &self,
        lane: u64,
        cost: Cost,
        size: usize,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Refusal>
    where
        Refusal: From<E>,
    {
        if is_short(cost, size) {
            return Ok(work()?);
        }
        let _turn = self.begin(lane, cost).await?;
        self.jobs.count(cost);
        Ok(block_in_place(work)?)
    }

    /// Runs work that completes a started operation, before work that has not begun. It is never
    /// refused.
    pub(super) async fn finish<T>(
        &self,
        lane: u64,
        cost: Cost,
        size: usize,
        work: impl FnOnce() -> T,
    ) -> T {
        if is_short(cost, size) {
            return work();
        }
        let turn = self.processors.take_first(Some(lane), cost.permits());
        let _turn = turn.await;
        self.jobs.count(cost);
        block_in_place(work)
    }

    /// Waits for the turn of work that has not begun. Without its client it leaves the queue.
    async fn begin(&self, lane: u64, cost: Cost) -> Result<Share<u64>, Refusal> {
        let client = Caller::current();
        tokio::select! {
            biased;
            () = client.gone() => Err(Refusal::NotBegun),
            turn = self.processors.take(Some(lane), cost.permits()) => {
                turn.map_err(|QueueFull| Refusal::QueueFull)
            }
        }
    }
}

impl Jobs {
    fn count(&self, cost: Cost) {
        let jobs = match cost {
            Cost::Low => &self.low,
            Cost::High => &self.high,
        };
        jobs.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether the work stays on its thread.
fn is_short(cost: Cost, size: usize) -> bool {
    // A runtime with one thread cannot hand its tasks to another one.
    size < cost.threshold() || Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::mpsc;
    use std::task::Poll;
    use std::time::Duration;

    use futures_util::poll;
    use hsm::CancelGuard;

    use super::*;

    type Begun = Pin<Box<dyn Future<Output = Result<Share<u64>, Refusal>>>>;

    /// Work of `lane` that waits, and its client.
    async fn waiting(works: &LongWork, lane: u64) -> (Begun, CancelGuard) {
        let (works, client) = (works.clone(), CancelGuard::default());
        let begun = client.scope(async move { works.begin(lane, Cost::High).await });
        let mut begun: Begun = Box::pin(begun);
        assert!(poll!(&mut begun).is_pending());
        (begun, client)
    }

    #[tokio::test]
    async fn abandoned_work_of_one_service_does_not_delay_another() {
        let works = LongWork::on(2);
        let running = works.begin(1, Cost::High).await.unwrap();
        for _ in 0..100 {
            let (mut abandoned, client) = waiting(&works, 1).await;
            drop(client);
            // Its task continues, as it does after a started operation.
            let abandoned = poll!(&mut abandoned);
            assert!(matches!(abandoned, Poll::Ready(Err(Refusal::NotBegun))));
            assert_eq!(works.status().queued, 0);
        }
        let (other, _client) = waiting(&works, 2).await;
        drop(running);
        let _turn = other.await.unwrap();
    }

    #[tokio::test]
    async fn work_whose_client_has_gone_does_not_begin_when_its_turn_comes() {
        let works = LongWork::on(2);
        let running = works.begin(1, Cost::High).await.unwrap();
        let (abandoned, client) = waiting(&works, 1).await;
        drop(running);
        drop(client);
        assert!(matches!(abandoned.await, Err(Refusal::NotBegun)));
        assert_eq!(works.processors.free(), 2);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_work() {
        let works = LongWork::on(2);
        let _running = works.begin(1, Cost::High).await.unwrap();
        let mut burst = Vec::new();
        for _ in 0..shares::PROCESSORS.queue {
            burst.push(waiting(&works, 1).await);
        }
        let refused = works.begin(1, Cost::High).await;
        assert!(matches!(refused, Err(Refusal::QueueFull)));
    }

    /// The runtime has one thread. If the work stayed on it, the other task could not run.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn requests_are_served_during_large_work() {
        for cost in [Cost::Low, Cost::High] {
            let (served, is_served) = mpsc::channel();
            let large = tokio::spawn(async move {
                let work = move || is_served.recv_timeout(Duration::from_secs(60));
                let long_work = LongWork::new();
                long_work.finish(0, cost, cost.threshold(), work).await
            });
            let request = tokio::spawn(async move { served.send(()) });
            assert_eq!(large.await.unwrap(), Ok(()), "{cost:?}");
            request.await.unwrap().unwrap();
        }
    }
}
