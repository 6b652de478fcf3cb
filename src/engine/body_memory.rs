//! The memory of request bodies, bounded over the process.
//!
//! A large body reserves its whole size before more than a small part is read, so no body holds a share
//! while it waits for more. A small body reserves its size from other memory after it was read, because the
//! response uses as much until the client has read it. An answer that can be far larger than its request reserves its own
//! memory before the work. A tiny body needs no share. A caller has at most half
//! of the memory that others leave: slow bodies of a few callers leave memory for the bodies of another.

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use crate::shares::{self, Share, Shares, Sharing};
use formats::wiped::Wiped;

/// The largest body that can be read without a share of the memory, in bytes.
pub const SMALL_BODY: usize = 64 * 1024;

/// The largest body that needs no share of the memory, in bytes.
pub const TINY_BODY: usize = 4 * 1024;

/// The share of a body; dropped when the request no longer needs memory.
pub type BodyShare = Share<Uuid>;

/// The memory for the bodies of all callers.
#[derive(Debug)]
pub struct BodyMemory {
    large: Shares<Uuid>,
    small: Shares<Uuid>,
    /// Small bodies of requests that will be refused. The owners are networks.
    pub refused: Shares<IpAddr>,
    /// Bodies of log-ins to the Transit API. The owners are networks.
    pub log_ins: Shares<IpAddr>,
    /// Forms of visitors of the dashboard. The owners are networks.
    pub forms: Shares<IpAddr>,
    patience: Duration,
}

/// The memory that one caller can reserve.
#[derive(Clone, Copy, Debug)]
pub struct CallerMemory<'a> {
    memory: &'a BodyMemory,
    caller: Uuid,
}

/// A body, which wipes itself, and its share of the memory.
#[derive(Default)]
pub struct BodyBytes {
    bytes: Wiped<Vec<u8>>,
    share: Option<Arc<BodyShare>>,
}

impl BodyMemory {
    /// The memory for bodies of at most `largest` bytes. A reservation waits at most for `patience`.
    pub fn new(largest: usize, patience: Duration) -> Self {
        let several = largest.saturating_mul(shares::LARGEST_BODIES);
        let large =
            Sharing { total: several.max(shares::LARGE_BODIES.total), ..shares::LARGE_BODIES };
        Self {
            large: Shares::new(large),
            small: Shares::new(shares::SMALL_BODIES),
            refused: Shares::new(shares::REFUSED_BODIES),
            log_ins: Shares::new(shares::LOG_INS),
            forms: Shares::new(shares::FORMS),
            patience,
        }
    }

    /// The memory for the bodies of `caller`.
    pub fn of(&self, caller: Uuid) -> CallerMemory<'_> {
        CallerMemory { memory: self, caller }
    }
}

impl CallerMemory<'_> {
    /// Reserves memory for a large body of this size. `None` if other bodies use it for too long.
    pub async fn reserve(self, bytes: usize) -> Option<BodyShare> {
        self.reserve_of(&self.memory.large, bytes).await
    }

    /// Reserves memory for a small body of this size. `None` if responses use it for too long.
    pub(crate) async fn reserve_small(self, bytes: usize) -> Option<BodyShare> {
        self.reserve_of(&self.memory.small, bytes).await
    }

    /// Reserves memory for an answer of this size, before the work. Nothing for one that needs no share. `None` if other
    /// bodies use it for too long.
    pub async fn reserve_answer(self, bytes: usize) -> Option<Option<BodyShare>> {
        if bytes <= TINY_BODY {
            return Some(None);
        }
        let memory = if bytes <= SMALL_BODY { &self.memory.small } else { &self.memory.large };
        self.reserve_of(memory, bytes).await.map(Some)
    }

    async fn reserve_of(self, memory: &Shares<Uuid>, bytes: usize) -> Option<BodyShare> {
        let share = memory.take(Some(self.caller), bytes);
        timeout(self.memory.patience, share).await.ok()?.ok()
    }
}

impl BodyBytes {
    /// The read bytes of a body. The share shrinks to their memory.
    pub fn new(bytes: Wiped<Vec<u8>>, mut share: Option<BodyShare>) -> Self {
        if let Some(share) = &mut share {
            share.shrink(bytes.capacity());
        }
        let share = share.map(Arc::new);
        Self { bytes, share }
    }

    /// The share, which covers the response too until the client has read it.
    pub fn share(&self) -> Option<Arc<BodyShare>> {
        self.share.clone()
    }

    /// The bytes of memory that it uses.
    pub fn capacity(&self) -> usize {
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
    use super::*;

    const USUAL: usize = shares::LARGE_BODIES.total;
    const LARGEST: usize = USUAL / shares::LARGEST_BODIES;

    #[tokio::test]
    async fn a_reservation_that_waits_too_long_holds_nothing() {
        let memory = BodyMemory::new(LARGEST, Duration::ZERO);
        let [first, second] = [1, 2].map(|caller| memory.of(Uuid::from_u128(caller)));
        let share = first.reserve(USUAL / 2).await;
        assert!(first.reserve(1).await.is_none());
        // What is free is not enough for this body.
        assert!(second.reserve(USUAL / 2).await.is_none());
        assert!(second.reserve(USUAL / 4).await.is_some());
        drop(share);
        assert_eq!(memory.large.free(), USUAL);
        assert_eq!(memory.large.queued(), 0);
    }

    #[tokio::test]
    async fn a_read_body_keeps_only_the_memory_that_it_uses() {
        let memory = BodyMemory::new(LARGEST, Duration::ZERO);
        let share = memory.of(Uuid::nil()).reserve(LARGEST).await;
        let body = BodyBytes::new(Wiped::new(Vec::with_capacity(1000)), share);
        assert_eq!(memory.large.free(), USUAL - 1000);
        let share = body.share();
        drop(body);
        assert_eq!(memory.large.free(), USUAL - 1000);
        drop(share);
        assert_eq!(memory.large.free(), USUAL);
    }

    #[tokio::test]
    async fn a_caller_has_memory_for_several_of_the_largest_bodies() {
        let memory = BodyMemory::new(USUAL, Duration::ZERO);
        let mut shares = Vec::new();
        for caller in [1, 1, 1, 1, 2, 2, 3] {
            let caller = memory.of(Uuid::from_u128(caller));
            shares.push(caller.reserve(USUAL).await.unwrap());
        }
    }
}
