//! The items of a batch, side by side.

use std::iter::Enumerate;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::vec::IntoIter;

use hsm::Caller;
use tokio::task::{JoinSet, yield_now};
use tracing::Instrument as _;

use super::kind::{Batch, BatchLimits, Item};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::json::Text;
use crate::protection::long_work::Cost;
use crate::protection::{Body, Call, Protection, Refusal, Unread};

/// The items that are not done yet, and what is needed to do them.
pub(super) struct Work {
    protection: Protection,
    batch: Batch,
    application: Application,
    call: Call,
    items: Mutex<Enumerate<IntoIter<Item>>>,
    count: usize,
    item_bytes: usize,
    /// No item begins after this time, on the monotonic clock.
    last_begin: Duration,
}

/// An item that was done or refused.
pub(super) struct Done {
    place: u16,
    pub(super) call: Call,
    pub(super) outcome: Result<Body, Refusal>,
}

impl Work {
    pub(super) fn new(
        protection: &Protection,
        batch: Batch,
        call: &Call,
        application: Application,
        items: Vec<Item>,
        limits: BatchLimits,
    ) -> Arc<Self> {
        Arc::new(Self {
            protection: protection.clone(),
            batch,
            application,
            call: call.item(0),
            count: items.len(),
            items: Mutex::new(items.into_iter().enumerate()),
            item_bytes: limits.item_bytes,
            last_begin: call.arrived().saturating_add(limits.begin_within),
        })
    }

    /// Does all items in at most `tasks` tasks. They stop beginning items when the client leaves.
    pub(super) async fn run(self: Arc<Self>, tasks: usize) -> Result<Vec<Done>, Unrecorded> {
        let mut running = JoinSet::new();
        for _ in 0..tasks.clamp(1, self.count.max(1)) {
            let share = Arc::clone(&self).share();
            running.spawn(Caller::current().scope(share).in_current_span());
        }
        let mut done = Vec::with_capacity(self.count);
        while let Some(joined) = running.join_next().await {
            // A batch with an item that panicked is not recorded.
            done.extend(joined.map_err(|_| Unrecorded::Closed)?);
        }
        done.sort_unstable_by_key(|item: &Done| item.place);
        Ok(done)
    }

    /// Does items one after the other until there are no more.
    async fn share(self: Arc<Self>) -> Vec<Done> {
        let mut done = Vec::new();
        while let Some((place, item)) = self.next() {
            let mut call = self.call.item(place);
            let outcome = if self.may_begin() {
                self.one(&mut call, &item).await
            } else {
                Err(Refusal::NotBegun)
            };
            done.push(Done {
                place,
                call,
                outcome,
            });
            yield_now().await;
        }
        done
    }

    fn next(&self) -> Option<(u16, Item)> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let (place, item) = items.next()?;
        Some((u16::try_from(place).ok()?, item))
    }

    fn may_begin(&self) -> bool {
        let now = self.protection.modules.clock.monotonic();
        now <= self.last_begin && !Caller::current().has_gone()
    }

    async fn one(&self, call: &mut Call, item: &[u8]) -> Result<Body, Refusal> {
        if item.len() > self.item_bytes {
            return Err(Unread::TooLarge.into());
        }
        let parsing = || Text::parse(item);
        let text = self
            .protection
            .long_work
            .run(call.lane(), Cost::Low, item.len(), parsing);
        let text = text.await?;
        let (protection, application) = (&self.protection, &self.application);
        match self.batch {
            Batch::Protect => protection.protect_one(call, application, text).await,
            Batch::Unprotect => protection.unprotect_one(call, application, text).await,
            Batch::Rewrap => protection.rewrap_one(call, application, text).await,
        }
    }
}
