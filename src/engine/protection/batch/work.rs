//! The items of a batch, side by side.

use std::iter::Enumerate;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;
use std::vec::IntoIter;

use futures_util::future::join_all;
use hsm::Caller;
use tokio::task::{JoinSet, yield_now};
use tracing::Instrument as _;

use super::credential::BatchCredential;
use super::kind::BatchLimits;
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::protection::{Call, Protection, Refusal};

/// The average size of items, in bytes, from which each item has a task of its own.
const LARGE: usize = 16 * 1024;

/// What is done with each item of a batch.
pub(in crate::protection) trait ItemWork: Send + Sync + 'static {
    type Item: Send + Sync + 'static;
    type Outcome: Send + 'static;

    /// The size of an item, in bytes.
    fn size(item: &Self::Item) -> usize;

    /// Does one item.
    fn one(
        &self,
        protection: &Protection,
        call: &mut Call,
        application: &Application,
        item: &Self::Item,
    ) -> impl Future<Output = Result<Self::Outcome, Refusal>> + Send;
}

/// The items that are not done yet, and what is needed to do them.
pub(in crate::protection) struct BatchWork<W: ItemWork> {
    protection: Protection,
    work: W,
    credential: BatchCredential,
    call: Call,
    items: Mutex<Enumerate<IntoIter<W::Item>>>,
    count: usize,
    tasks: usize,
    /// How many items a task does at the same time.
    per_task: usize,
    /// No item begins after this time, on the monotonic clock.
    last_begin: Duration,
}

/// An item that was done or refused.
pub(in crate::protection) struct Done<T> {
    place: u16,
    pub(super) call: Call,
    pub(in crate::protection) outcome: Result<T, Refusal>,
}

impl<W: ItemWork> BatchWork<W> {
    pub(in crate::protection) fn new(
        protection: &Protection,
        work: W,
        call: &Call,
        credential: BatchCredential,
        items: Vec<W::Item>,
        limits: BatchLimits,
    ) -> Arc<Self> {
        let bytes: usize = items.iter().map(W::size).sum();
        let at_once = limits.at_once.clamp(1, items.len().max(1));
        // A task wakes up once for the operations of several small items.
        let tasks = match bytes < items.len() * LARGE {
            true => at_once.min(available_parallelism().map_or(1, usize::from)),
            false => at_once,
        };
        Arc::new(Self {
            protection: protection.clone(),
            work,
            credential,
            call: call.item(0),
            count: items.len(),
            items: Mutex::new(items.into_iter().enumerate()),
            tasks,
            per_task: at_once.div_ceil(tasks),
            last_begin: call.arrived().saturating_add(limits.begin_within),
        })
    }

    /// Does all items. No item begins when the client has gone.
    pub(in crate::protection) async fn run(
        self: Arc<Self>,
    ) -> Result<Vec<Done<W::Outcome>>, Unrecorded> {
        let mut running = JoinSet::new();
        for _ in 0..self.tasks {
            let share = Arc::clone(&self).share();
            running.spawn(Caller::current().scope(share).in_current_span());
        }
        let mut done = Vec::with_capacity(self.count);
        while let Some(joined) = running.join_next().await {
            // A batch with an item that panicked is not recorded.
            done.extend(joined.map_err(|_| Unrecorded::Closed)?);
        }
        done.sort_unstable_by_key(|item: &Done<W::Outcome>| item.place);
        Ok(done)
    }

    /// Does a few items at a time until there are no more.
    async fn share(self: Arc<Self>) -> Vec<Done<W::Outcome>> {
        let mut done = Vec::new();
        loop {
            let items = self.next();
            if items.is_empty() {
                return done;
            }
            let together = items.into_iter().map(|(place, item)| self.done(place, item));
            let together = join_all(together);
            done.extend(Caller::current().together().scope(together).await);
            yield_now().await;
        }
    }

    async fn done(&self, place: u16, item: W::Item) -> Done<W::Outcome> {
        let mut call = self.call.item(place);
        let outcome = if self.may_begin() {
            self.one(&mut call, &item).await
        } else {
            Err(Refusal::NotBegun)
        };
        Done { place, call, outcome }
    }

    /// The next items of a task.
    fn next(&self) -> Vec<(u16, W::Item)> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let next = items.by_ref().take(self.per_task);
        next.filter_map(|(place, item)| Some((u16::try_from(place).ok()?, item))).collect()
    }

    fn may_begin(&self) -> bool {
        let now = self.protection.dependencies.clock.monotonic();
        now <= self.last_begin && !Caller::is_gone()
    }

    async fn one(&self, call: &mut Call, item: &W::Item) -> Result<W::Outcome, Refusal> {
        let application = &self.credential.application().await?;
        self.work.one(&self.protection, call, application, item).await
    }
}
