//! Fair shares of what is scarce: connections, memory of bodies, processors, connections to the database.
//!
//! An owner is a service, a person or a network. It has at most its limit, and owners that wait take turns.
//! A request that only the limit of its owner holds up delays no other owner. A request for more than is
//! free delays the others, so that small requests do not overtake large ones forever.
//!
//! The queue of a token has the same turns, but no shares: its threads take one operation at a time. A rate
//! limit is no share either, because nothing is given back.

mod holdings;
mod sharing;

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use self::holdings::Holdings;
pub use self::sharing::*;
use formats::turns::{Offer, Turns};

/// Who has shares.
pub trait ShareOwner: Copy + Eq + Hash {}

impl<T: Copy + Eq + Hash> ShareOwner for T {}

/// An amount that owners share. Clones refer to the same amount.
#[derive(Clone, Debug)]
pub struct Shares<O: ShareOwner>(Arc<Mutex<ShareState<O>>>);

#[derive(Debug)]
struct ShareState<O: ShareOwner> {
    sharing: Sharing,
    holdings: Holdings<O>,
    urgent: Turns<Option<O>, ShareRequest<O>>,
    waiting: Turns<Option<O>, ShareRequest<O>>,
}

/// A share of an owner; dropped when it is no longer needed.
#[derive(Debug)]
pub struct Share<O: ShareOwner> {
    shares: Shares<O>,
    owner: Option<O>,
    amount: usize,
}

/// Too many requests wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests wait")]
pub struct QueueFull;

type Grant<O> = Result<Share<O>, QueueFull>;

/// A request that waits.
#[derive(Debug)]
struct ShareRequest<O: ShareOwner> {
    owner: Option<O>,
    amount: usize,
    answer: oneshot::Sender<Grant<O>>,
}

/// The place of a request in the queue, which it leaves when it is dropped.
struct QueuePlace<'a, O: ShareOwner> {
    shares: &'a Shares<O>,
    answer: oneshot::Receiver<Grant<O>>,
}

impl<O: ShareOwner> Shares<O> {
    /// A new amount, which is free.
    pub fn new(sharing: Sharing) -> Self {
        Self(Arc::new(Mutex::new(ShareState {
            sharing,
            holdings: Holdings::new(sharing.total, sharing.limit),
            urgent: Turns::default(),
            waiting: Turns::default(),
        })))
    }

    /// Takes a share without waiting. `None` if it is not free, or others wait. Without an owner, no limit but
    /// the total applies.
    pub fn try_take(&self, owner: Option<O>, amount: usize) -> Option<Share<O>> {
        let mut inner = self.lock();
        if inner.queued() > 0 || inner.holdings.take(owner, amount) != Offer::Take {
            return None;
        }
        drop(inner);
        Some(self.share(owner, amount))
    }

    /// Waits for a share. If too many requests wait, the owner with the most gives up its newest.
    pub async fn take(&self, owner: Option<O>, amount: usize) -> Result<Share<O>, QueueFull> {
        match self.try_take(owner, amount) {
            Some(share) => Ok(share),
            None => self.queue(owner, amount, false).await,
        }
    }

    /// Waits for a share before all that wait with [`take`](Self::take), beyond the limit of the queue.
    pub(crate) async fn take_first(&self, owner: Option<O>, amount: usize) -> Option<Share<O>> {
        self.queue(owner, amount, true).await.ok()
    }

    /// The amount, free or not.
    pub fn total(&self) -> usize {
        self.lock().sharing.total
    }

    /// The amount that is free.
    pub fn free(&self) -> usize {
        self.lock().holdings.free()
    }

    /// The number of requests that wait.
    pub fn queued(&self) -> usize {
        self.lock().queued()
    }

    fn share(&self, owner: Option<O>, amount: usize) -> Share<O> {
        Share { shares: self.clone(), owner, amount }
    }

    async fn queue(&self, owner: Option<O>, amount: usize, is_urgent: bool) -> Grant<O> {
        let (sender, answer) = oneshot::channel();
        let request = ShareRequest { owner, amount, answer: sender };
        let shares = self;
        let mut place = QueuePlace { shares, answer };
        let displaced = self.change(|inner| match is_urgent {
            true => {
                inner.urgent.push(owner, request);
                Ok(None)
            }
            false => inner.push(request),
        });
        if let Some(displaced) = displaced? {
            let _ = displaced.answer.send(Err(QueueFull));
        }
        // Each request is answered.
        (&mut place.answer).await.unwrap_or(Err(QueueFull))
    }

    /// Makes a change, and answers the requests whose shares are free after it. The lock is free by then,
    /// because a request that has just gone returns its share here.
    fn change<T>(&self, change: impl FnOnce(&mut ShareState<O>) -> T) -> T {
        let mut inner = self.lock();
        let changed = change(&mut inner);
        let ready = inner.ready();
        drop(inner);
        for request in ready {
            let share = self.share(request.owner, request.amount);
            let _ = request.answer.send(Ok(share));
        }
        changed
    }

    fn lock(&self) -> MutexGuard<'_, ShareState<O>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: ShareOwner> ShareState<O> {
    fn queued(&self) -> usize {
        self.urgent.len() + self.waiting.len()
    }

    /// Queues a request, and returns the one that it displaces, if any.
    fn push(&mut self, request: ShareRequest<O>) -> Result<Option<ShareRequest<O>>, QueueFull> {
        let mut displaced = None;
        if self.waiting.len() >= self.sharing.queue {
            displaced = Some(self.waiting.displace_for(request.owner).ok_or(QueueFull)?);
        }
        self.waiting.push(request.owner, request);
        Ok(displaced)
    }

    /// Removes the requests whose turn it is from the queue, with their amounts taken.
    fn ready(&mut self) -> Vec<ShareRequest<O>> {
        let Self { holdings, urgent, waiting, .. } = self;
        let mut last = Offer::Take;
        let mut offer = |request: &ShareRequest<O>| {
            if last != Offer::Stop {
                last = holdings.take(request.owner, request.amount);
            }
            last
        };
        let next = || {
            let urgent = urgent.pop_if(&mut offer);
            urgent.or_else(|| waiting.pop_if(&mut offer))
        };
        std::iter::from_fn(next).collect()
    }
}

impl<O: ShareOwner> Drop for QueuePlace<'_, O> {
    fn drop(&mut self) {
        if !self.answer.is_terminated() {
            self.answer.close();
            let waits = |request: &ShareRequest<O>| !request.answer.is_closed();
            self.shares.change(|inner| {
                inner.urgent.retain(waits);
                inner.waiting.retain(waits);
            });
        }
    }
}

impl<O: ShareOwner> Share<O> {
    /// Returns all but `amount`.
    pub(crate) fn shrink(&mut self, amount: usize) {
        let returned = self.amount.saturating_sub(amount);
        self.amount -= returned;
        self.release(returned);
    }

    fn release(&self, amount: usize) {
        let change = |inner: &mut ShareState<O>| inner.holdings.give_back(self.owner, amount);
        self.shares.change(change);
    }
}

impl<O: ShareOwner> Drop for Share<O> {
    fn drop(&mut self) {
        self.release(self.amount);
    }
}

#[cfg(test)]
mod tests;
