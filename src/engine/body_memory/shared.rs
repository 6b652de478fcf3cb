//! Memory that callers share, so that none of them can use all of it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;
use uuid::Uuid;

use crate::semaphores::Semaphores;

/// A caller gets this fraction of the memory that others leave: one half.
const PARTS: usize = 2;

/// A number of bytes of which each caller has at most half of what the others leave. A part of it
/// is always free for another caller.
#[derive(Debug)]
pub(super) struct SharedMemory {
    used: Mutex<Used>,
    freed: Notify,
    /// The next body of each caller that waits for memory.
    turns: Semaphores<Uuid>,
}

#[derive(Debug)]
struct Used {
    free: usize,
    callers: HashMap<Uuid, usize>,
}

/// The share of a body; dropped when the request no longer needs memory.
#[derive(Debug)]
pub struct BodyShare {
    memory: Arc<SharedMemory>,
    caller: Uuid,
    bytes: usize,
}

impl SharedMemory {
    pub(super) fn new(bytes: usize) -> Arc<Self> {
        let used = Used {
            free: bytes,
            callers: HashMap::new(),
        };
        Arc::new(Self {
            used: Mutex::new(used),
            freed: Notify::new(),
            turns: Semaphores::new(1),
        })
    }

    /// Reserves memory. The bodies of a caller wait in their order, each at most for `patience`.
    pub(super) async fn reserve(
        self: &Arc<Self>,
        caller: Uuid,
        bytes: usize,
        patience: Duration,
    ) -> Option<BodyShare> {
        let turn = self.turns.of(caller);
        let reserving = async {
            let _turn = turn.acquire().await.ok()?;
            loop {
                let freed = self.freed.notified();
                if let Some(share) = self.try_reserve(caller, bytes) {
                    return Some(share);
                }
                freed.await;
            }
        };
        timeout(patience, reserving).await.ok()?
    }

    fn try_reserve(self: &Arc<Self>, caller: Uuid, bytes: usize) -> Option<BodyShare> {
        let mut used = self.used();
        let before = used.callers.get(&caller).copied().unwrap_or_default();
        let of_caller = before.checked_add(bytes)?;
        let left_by_others = used.free.saturating_add(before);
        if of_caller > left_by_others / PARTS {
            return None;
        }
        used.free -= bytes;
        used.callers.insert(caller, of_caller);
        Some(BodyShare {
            memory: Arc::clone(self),
            caller,
            bytes,
        })
    }

    fn release(&self, caller: Uuid, bytes: usize) {
        let mut used = self.used();
        used.free += bytes;
        if let Entry::Occupied(mut of_caller) = used.callers.entry(caller) {
            *of_caller.get_mut() -= bytes;
            if *of_caller.get() == 0 {
                of_caller.remove();
            }
        }
        drop(used);
        self.freed.notify_waiters();
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.used().free
    }
}

impl BodyShare {
    /// Returns all but `bytes`.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let returned = self.bytes.saturating_sub(bytes);
        self.bytes -= returned;
        self.memory.release(self.caller, returned);
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        self.memory.release(self.caller, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;

    use super::*;

    const ALL: usize = 64 * 1024;
    const LONG: Duration = Duration::from_secs(3600);

    fn caller(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    /// All that a caller gets, in shares of one KiB.
    fn greedy(memory: &Arc<SharedMemory>, number: u128) -> Vec<BodyShare> {
        std::iter::from_fn(|| memory.try_reserve(caller(number), 1024)).collect()
    }

    #[test]
    fn a_caller_gets_half_of_the_memory_that_others_leave() {
        let memory = SharedMemory::new(ALL);
        let shares: Vec<_> = (0..6).map(|number| greedy(&memory, number)).collect();
        let counts: Vec<_> = shares.iter().map(Vec::len).collect();
        assert_eq!(counts, [32, 16, 8, 4, 2, 1]);
        assert!(memory.try_reserve(caller(6), 512).is_some());
        drop(shares);
        assert_eq!(memory.free(), ALL);
        assert!(memory.used().callers.is_empty());
        assert!(memory.try_reserve(caller(6), ALL / 2).is_some());
    }

    #[tokio::test]
    async fn bodies_of_a_caller_get_memory_in_the_order_of_their_requests() {
        let memory = SharedMemory::new(ALL);
        let mut shares = greedy(&memory, 1);
        let mut large = pin!(memory.reserve(caller(1), 2048, LONG));
        let mut small = pin!(memory.reserve(caller(1), 1, LONG));
        assert!(poll!(&mut large).is_pending());
        assert!(poll!(&mut small).is_pending());
        shares.pop();
        assert!(poll!(&mut large).is_pending());
        assert!(poll!(&mut small).is_pending());
        shares.pop();
        let large = large.await.unwrap();
        assert!(poll!(&mut small).is_pending());
        drop(large);
        assert!(small.await.is_some());
    }

    #[tokio::test]
    async fn a_reservation_that_waits_too_long_holds_nothing() {
        let memory = SharedMemory::new(ALL);
        let shares = greedy(&memory, 1);
        let waiting = memory.reserve(caller(1), 1, Duration::ZERO);
        assert!(waiting.await.is_none());
        // What is free is not enough for this body.
        let other = memory.reserve(caller(2), ALL / 2, Duration::ZERO);
        assert!(other.await.is_none());
        let other = memory.reserve(caller(2), ALL / 4, Duration::ZERO);
        assert!(other.await.is_some());
        drop(shares);
        assert_eq!(memory.free(), ALL);
    }

    #[test]
    fn a_share_can_shrink() {
        let memory = SharedMemory::new(ALL);
        let mut share = memory.try_reserve(caller(1), 1024).unwrap();
        share.shrink(1);
        assert_eq!(memory.free(), ALL - 1);
        share.shrink(2);
        drop(share);
        assert_eq!(memory.free(), ALL);
    }
}
