//! Permits for processors, for which the services take turns.
//!
//! Work waits in the lane of its service, as operations do in the queue of a token. Work that has not
//! begun when its client has gone leaves the queue. When the queue is full, the longest lane gives up its
//! newest work for a shorter lane.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hsm::{Caller, Lanes, Queued};
use tokio::sync::oneshot;

use super::Refusal;

/// The permits, and the work that waits for them.
#[derive(Debug)]
pub(super) struct Turns {
    bound: usize,
    inner: Mutex<Inner>,
}

/// Permits that work uses; dropped when the work ends.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    permits: u32,
}

#[derive(Debug)]
struct Inner {
    free: u32,
    /// Work that completes a started operation.
    finishing: Lanes<Waiting>,
    /// Work that has not begun, at most `bound`.
    beginning: Lanes<Waiting>,
}

/// Work that waits. Without an answer it does not begin, because its client has gone.
#[derive(Debug)]
struct Waiting {
    lane: u64,
    permits: u32,
    client: Caller,
    turn: oneshot::Sender<Result<Turn, Refusal>>,
}

type Receiver = oneshot::Receiver<Result<Turn, Refusal>>;

impl Turns {
    pub(super) fn new(permits: u32, bound: usize) -> Arc<Self> {
        let inner = Inner {
            free: permits,
            finishing: Lanes::default(),
            beginning: Lanes::default(),
        };
        Arc::new(Self {
            bound,
            inner: Mutex::new(inner),
        })
    }

    /// Waits for the turn of work that has not begun.
    ///
    /// # Errors
    /// The client of the current task has gone, or too much work waits.
    pub(super) async fn begin(self: &Arc<Self>, lane: u64, permits: u32) -> Result<Turn, Refusal> {
        let turn = self.queue(lane, permits)?;
        turn.await.unwrap_or(Err(Refusal::NotBegun))
    }

    /// Waits for the turn of work that completes a started operation.
    pub(super) async fn finish(self: &Arc<Self>, lane: u64, permits: u32) -> Option<Turn> {
        let turn = self.queue_first(lane, permits);
        turn.await.ok()?.ok()
    }

    /// The number of works that wait.
    pub(super) fn queued(&self) -> usize {
        let inner = self.lock();
        inner.beginning.len() + inner.finishing.len()
    }

    fn queue(self: &Arc<Self>, lane: u64, permits: u32) -> Result<Receiver, Refusal> {
        let (waiting, turn) = Waiting::new(lane, permits, Caller::current());
        let mut inner = self.lock();
        inner.beginning.remove_abandoned();
        let mut displaced = None;
        if inner.beginning.len() >= self.bound {
            displaced = inner.beginning.displace_for(lane);
            if displaced.is_none() {
                return Err(Refusal::QueueFull);
            }
        }
        inner.beginning.push(waiting);
        let ready = inner.ready();
        drop(inner);
        if let Some(displaced) = displaced {
            let _ = displaced.turn.send(Err(Refusal::QueueFull));
        }
        self.start(ready);
        Ok(turn)
    }

    fn queue_first(self: &Arc<Self>, lane: u64, permits: u32) -> Receiver {
        let (waiting, turn) = Waiting::new(lane, permits, Caller::default());
        let mut inner = self.lock();
        inner.finishing.push(waiting);
        let ready = inner.ready();
        drop(inner);
        self.start(ready);
        turn
    }

    fn release(self: &Arc<Self>, permits: u32) {
        let mut inner = self.lock();
        inner.free = inner.free.saturating_add(permits);
        let ready = inner.ready();
        drop(inner);
        self.start(ready);
    }

    /// Starts work. The lock is free, because work that has just gone releases its permits here.
    fn start(self: &Arc<Self>, ready: Vec<Waiting>) {
        for Waiting { permits, turn, .. } in ready {
            let turns = Arc::clone(self);
            let _ = turn.send(Ok(Turn { turns, permits }));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Takes the permits for the work whose turn it is, and removes it from the queue.
    fn ready(&mut self) -> Vec<Waiting> {
        self.finishing.remove_abandoned();
        self.beginning.remove_abandoned();
        let mut ready = Vec::new();
        loop {
            let lanes = match self.finishing.is_empty() {
                true => &mut self.beginning,
                false => &mut self.finishing,
            };
            let Some(waiting) = lanes.pop_if(|next| next.permits <= self.free) else {
                return ready;
            };
            self.free -= waiting.permits;
            ready.push(waiting);
        }
    }
}

impl Waiting {
    fn new(lane: u64, permits: u32, client: Caller) -> (Self, Receiver) {
        let (turn, receiver) = oneshot::channel();
        let waiting = Self {
            lane,
            permits,
            client,
            turn,
        };
        (waiting, receiver)
    }
}

impl Queued for Waiting {
    fn lane(&self) -> u64 {
        self.lane
    }

    fn is_abandoned(&self) -> bool {
        self.turn.is_closed() || self.client.has_gone()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.release(self.permits);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use futures_util::poll;
    use hsm::CancelGuard;

    use super::*;

    type Begun = Pin<Box<dyn Future<Output = Result<Turn, Refusal>>>>;

    /// Work of `lane` that waits, and its client.
    async fn waiting(turns: &Arc<Turns>, lane: u64) -> (Begun, CancelGuard) {
        let (turns, client) = (Arc::clone(turns), CancelGuard::default());
        let begun = client.scope(async move { turns.begin(lane, 2).await });
        let mut begun: Begun = Box::pin(begun);
        assert!(poll!(&mut begun).is_pending());
        (begun, client)
    }

    fn count(turns: &Turns) -> usize {
        turns.lock().beginning.len()
    }

    #[tokio::test]
    async fn abandoned_work_of_one_service_does_not_delay_another() {
        let turns = Turns::new(2, 256);
        let running = turns.begin(1, 2).await.unwrap();
        let mut abandoned = Vec::new();
        for _ in 0..100 {
            let (begun, client) = waiting(&turns, 1).await;
            drop(client);
            abandoned.push(begun);
        }
        assert!(count(&turns) <= 1, "{}", count(&turns));
        let (other, _client) = waiting(&turns, 2).await;
        drop(running);
        // No abandoned work has begun in between: its turn would still hold the permits.
        let _turn = other.await.unwrap();
        for begun in abandoned {
            assert!(matches!(begun.await, Err(Refusal::NotBegun)));
        }
    }

    #[tokio::test]
    async fn a_burst_delays_its_own_service_first() {
        let turns = Turns::new(2, 256);
        let mut running = turns.begin(1, 2).await.unwrap();
        let mut works = Vec::new();
        for lane in [1, 1, 1, 1, 2, 2] {
            works.push((lane, waiting(&turns, lane).await));
        }
        let mut order = Vec::new();
        while !works.is_empty() {
            drop(running);
            let mut begun = None;
            for (place, (lane, (work, _))) in works.iter_mut().enumerate() {
                if let std::task::Poll::Ready(turn) = poll!(work) {
                    assert!(begun.is_none(), "two works use the same permits");
                    order.push(*lane);
                    begun = Some((place, turn.unwrap()));
                }
            }
            let (place, turn) = begun.unwrap();
            drop(works.remove(place));
            running = turn;
        }
        assert_eq!(order, [1, 2, 1, 2, 1, 1]);
    }

    #[tokio::test]
    async fn waiting_work_is_bounded() {
        let turns = Turns::new(2, 4);
        let running = turns.begin(1, 2).await.unwrap();
        let mut burst = Vec::new();
        for _ in 0..4 {
            burst.push(waiting(&turns, 1).await);
        }
        assert!(matches!(turns.begin(1, 2).await, Err(Refusal::QueueFull)));
        let (other, _client) = waiting(&turns, 2).await;
        let (newest, _) = burst.pop().unwrap();
        assert!(matches!(newest.await, Err(Refusal::QueueFull)));
        assert_eq!(count(&turns), 4);
        // Work of a started operation waits beyond the bound, and begins first.
        let mut finishing = Box::pin(turns.finish(1, 2));
        assert!(poll!(&mut finishing).is_pending());
        drop(running);
        drop(finishing.await.unwrap());
        let (first, _client) = burst.remove(0);
        drop(first.await.unwrap());
        drop(other.await.unwrap());
    }

    #[tokio::test]
    async fn work_that_is_dropped_returns_its_permits() {
        let turns = Turns::new(2, 4);
        let running = turns.begin(1, 2).await.unwrap();
        let (begun, _client) = waiting(&turns, 1).await;
        drop(running);
        drop(begun);
        drop(turns.begin(2, 2).await.unwrap());
    }
}
