//! The memory of request bodies, bounded over the process.
//!
//! A large body reserves its whole size before more than a small part is read, so no body holds a share
//! while it waits for more. A small body reserves its size from other memory after it was read, because the
//! response uses as much until the client has read it. A tiny body needs no share. A caller has at most half
//! of the memory that others leave: slow bodies of a few callers leave memory for the bodies of another.

mod anonymous;
mod shared;

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use self::anonymous::AnonymousBodies;
pub use self::anonymous::AnonymousBody;
pub use self::shared::BodyShare;
use self::shared::SharedMemory;
use formats::wiped::Wiped;

/// The largest body that can be read without a share of the memory, in bytes.
pub const SMALL_BODY: usize = 64 * 1024;

/// The largest body that needs no share of the memory, in bytes.
pub const TINY_BODY: usize = 4 * 1024;

/// The memory for large bodies, unless the largest body needs more.
const USUAL: usize = 256 * 1024 * 1024;

/// The memory for small bodies.
const SMALL: usize = 64 * 1024 * 1024;

/// This number of the largest bodies fit at least.
const LARGEST_BODIES: usize = 8;

/// The memory for the bodies of all callers.
#[derive(Debug)]
pub struct BodyMemory {
    large: Arc<SharedMemory>,
    small: Arc<SharedMemory>,
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
        let large = largest.saturating_mul(LARGEST_BODIES).max(USUAL);
        Self {
            large: SharedMemory::new(large),
            small: SharedMemory::new(SMALL),
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

    /// The bytes of memory that it uses.
    #[must_use]
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

    #[tokio::test]
    async fn a_read_body_keeps_only_the_memory_that_it_uses() {
        let memory = BodyMemory::new(USUAL / LARGEST_BODIES, Duration::ZERO);
        let share = memory.of(Uuid::nil()).reserve(USUAL / LARGEST_BODIES).await;
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
