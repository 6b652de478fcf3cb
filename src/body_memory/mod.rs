//! The memory of request bodies, bounded over the process.
//!
//! A large body reserves its whole size before more than a small part is read, so no body holds a share
//! while it waits for more. A small body reserves its size from other memory after it was read, because the
//! response uses as much until the client has read it. A tiny body needs no share. A caller has at most half
//! of the memory: slow bodies of one caller do not delay the bodies of another.

mod anonymous;

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

use self::anonymous::AnonymousBodies;
pub use self::anonymous::AnonymousBody;
use crate::semaphores::Semaphores;
use crate::wiped::Wiped;

/// The largest body that can be read without a share of the memory, in bytes.
pub const SMALL_BODY: usize = 64 * 1024;

/// The largest body that needs no share of the memory, in bytes.
pub const TINY_BODY: usize = 4 * 1024;

/// The unit of reservations, in bytes.
const BLOCK: usize = 1024;

/// The memory for large bodies, unless the largest body needs more.
const USUAL: usize = 256 * 1024 * 1024;

/// The memory for small bodies.
const SMALL: usize = 64 * 1024 * 1024;

/// This number of the largest bodies fit at least.
const LARGEST_BODIES: usize = 8;

/// Memory that callers share.
#[derive(Debug)]
struct SharedMemory {
    blocks: Arc<Semaphore>,
    callers: Semaphores<Uuid>,
}

/// The memory for the bodies of all callers.
#[derive(Debug)]
pub struct BodyMemory {
    large: SharedMemory,
    small: SharedMemory,
    refused: AnonymousBodies,
    forms: AnonymousBodies,
    patience: Duration,
}

/// The memory that one caller can reserve.
#[derive(Clone, Copy, Debug)]
pub struct CallerMemory<'a> {
    memory: &'a BodyMemory,
    caller: Uuid,
}

/// The share of a body; dropped when the request no longer needs memory.
#[derive(Debug)]
pub struct BodyShare {
    of_caller: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
}

/// Marks a response that needs no memory of its own, such as one that uses that of its request's body.
#[derive(Clone, Copy, Debug)]
pub struct Reserved;

/// A body, which wipes itself, and its share of the memory.
#[derive(Default)]
pub struct BodyBytes {
    bytes: Wiped<Vec<u8>>,
    share: Option<Arc<BodyShare>>,
}

impl BodyMemory {
    /// The memory for bodies of at most `largest` bytes. A reservation waits at most for `patience`.
    #[must_use]
    pub fn new(largest: usize, patience: Duration) -> Self {
        let blocks = largest.div_ceil(BLOCK).saturating_mul(LARGEST_BODIES);
        let blocks = blocks.clamp(USUAL / BLOCK, Semaphore::MAX_PERMITS);
        Self {
            large: SharedMemory::new(blocks),
            small: SharedMemory::new(SMALL / BLOCK),
            refused: AnonymousBodies::refused(),
            forms: AnonymousBodies::forms(),
            patience,
        }
    }

    /// The memory for the bodies of `caller`.
    #[must_use]
    pub fn of(&self, caller: Uuid) -> CallerMemory<'_> {
        CallerMemory {
            memory: self,
            caller,
        }
    }

    /// Allows to read a small body of a request from this network that will be refused. `None` if others use
    /// all of this memory.
    #[must_use]
    pub fn refused(&self, network: IpAddr) -> Option<AnonymousBody<'_>> {
        self.refused.body_of(network)
    }

    /// Allows to read a form of a visitor of the dashboard from this network. `None` if others use all of
    /// this memory.
    #[must_use]
    pub fn form(&self, network: IpAddr) -> Option<AnonymousBody<'_>> {
        self.forms.body_of(network)
    }
}

impl SharedMemory {
    fn new(blocks: usize) -> Self {
        Self {
            blocks: Arc::new(Semaphore::new(blocks)),
            callers: Semaphores::new(blocks / 2),
        }
    }

    async fn reserve(&self, caller: Uuid, bytes: usize, patience: Duration) -> Option<BodyShare> {
        let blocks = u32::try_from(bytes.div_ceil(BLOCK)).ok()?;
        let of_caller = self.callers.of(caller);
        let of_all = Arc::clone(&self.blocks);
        let reserving = async {
            Some(BodyShare {
                of_caller: of_caller.acquire_many_owned(blocks).await.ok()?,
                of_all: of_all.acquire_many_owned(blocks).await.ok()?,
            })
        };
        timeout(patience, reserving).await.ok()?
    }
}

impl CallerMemory<'_> {
    /// Reserves memory for a large body of this size. `None` if other bodies use it for too long.
    pub async fn reserve(self, bytes: usize) -> Option<BodyShare> {
        let BodyMemory {
            large, patience, ..
        } = self.memory;
        large.reserve(self.caller, bytes, *patience).await
    }

    /// Reserves memory for a small body of this size. `None` if responses use it for too long.
    pub async fn reserve_small(self, bytes: usize) -> Option<BodyShare> {
        let BodyMemory {
            small, patience, ..
        } = self.memory;
        small.reserve(self.caller, bytes, *patience).await
    }
}

impl BodyShare {
    /// Returns all but `bytes`.
    fn shrink(&mut self, bytes: usize) {
        let kept = bytes.div_ceil(BLOCK);
        for permit in [&mut self.of_caller, &mut self.of_all] {
            drop(permit.split(permit.num_permits().saturating_sub(kept)));
        }
    }
}

impl BodyBytes {
    /// The read bytes of a body. The share shrinks to their memory.
    #[must_use]
    pub fn new(bytes: Wiped<Vec<u8>>, mut share: Option<BodyShare>) -> Self {
        if let Some(share) = &mut share {
            share.shrink(bytes.capacity());
        }
        let share = share.map(Arc::new);
        Self { bytes, share }
    }

    /// The share, which covers the response too until the client has read it.
    #[must_use]
    pub fn share(&self) -> Option<Arc<BodyShare>> {
        self.share.clone()
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

impl Deref for BodyBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for BodyBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for BodyBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};

    use futures_util::poll;

    use super::*;

    const LARGEST: usize = USUAL / LARGEST_BODIES;
    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    fn memory() -> BodyMemory {
        BodyMemory::new(LARGEST, Duration::from_secs(3600))
    }

    async fn reserved(memory: &BodyMemory, caller: Uuid, bodies: usize) -> Vec<BodyShare> {
        let mut shares = Vec::new();
        for _ in 0..bodies {
            shares.push(memory.of(caller).reserve(LARGEST).await.unwrap());
        }
        shares
    }

    #[tokio::test]
    async fn a_caller_has_half_of_the_memory() {
        let memory = memory();
        let mut of_one = reserved(&memory, ONE, LARGEST_BODIES / 2).await;
        let mut next = pin!(memory.of(ONE).reserve(1));
        assert!(poll!(&mut next).is_pending());
        let of_other = reserved(&memory, OTHER, LARGEST_BODIES / 2).await;
        let mut third = pin!(memory.of(Uuid::from_u128(3)).reserve(1));
        assert!(poll!(&mut third).is_pending());
        of_one.pop();
        assert!(next.await.is_some() && third.await.is_some());
        drop((of_one, of_other));
        assert_eq!(memory.large.blocks.available_permits(), USUAL / BLOCK);
    }

    #[tokio::test]
    async fn bodies_get_memory_in_the_order_of_their_requests() {
        let memory = memory();
        let mut shares = reserved(&memory, ONE, LARGEST_BODIES / 2).await;
        let mut large = pin!(memory.of(ONE).reserve(LARGEST));
        let mut small = pin!(memory.of(ONE).reserve(BLOCK));
        assert!(poll!(&mut large).is_pending());
        assert!(poll!(&mut small).is_pending());
        shares.pop();
        assert!(poll!(&mut small).is_pending());
        let large = large.await.unwrap();
        assert!(poll!(&mut small).is_pending());
        drop(large);
        assert!(small.await.is_some());
    }

    #[tokio::test]
    async fn a_reservation_that_waits_too_long_holds_nothing() {
        let memory = BodyMemory::new(LARGEST, Duration::ZERO);
        let shares = reserved(&memory, ONE, LARGEST_BODIES / 2).await;
        let others = reserved(&memory, OTHER, LARGEST_BODIES / 2 - 1).await;
        // A part of the memory is free, but not enough for this body.
        let third = Uuid::from_u128(3);
        assert!(memory.of(third).reserve(2 * LARGEST).await.is_none());
        assert!(memory.of(ONE).reserve(1).await.is_none());
        let mut last: Pin<Box<_>> = Box::pin(memory.of(third).reserve(LARGEST));
        assert!(poll!(&mut last).is_ready());
        drop((shares, others));
    }

    #[tokio::test]
    async fn a_read_body_keeps_only_the_memory_that_it_uses() {
        let memory = memory();
        let share = memory.of(ONE).reserve(LARGEST).await;
        let body = BodyBytes::new(Wiped::new(Vec::with_capacity(BLOCK)), share);
        assert_eq!(memory.large.blocks.available_permits(), USUAL / BLOCK - 1);
        let share = body.share();
        drop(body);
        assert_eq!(memory.large.blocks.available_permits(), USUAL / BLOCK - 1);
        drop(share);
        assert_eq!(memory.large.blocks.available_permits(), USUAL / BLOCK);
    }
}
