//! The turns of look-ups to use the database.

use std::net::IpAddr;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::semaphores::Semaphores;

/// The number of look-ups that use the database at the same time. Other work has the other connections.
pub(super) const AT_ONCE: usize = 2;

/// The permits of look-ups to use the database. A look-up first waits for one of its network, so that each
/// network has few look-ups in the queue of all.
#[derive(Debug)]
pub(super) struct Turns {
    networks: Semaphores<IpAddr>,
    all: Semaphore,
}

/// The permit of one look-up to use the database.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    _of_network: OwnedSemaphorePermit,
    _of_all: SemaphorePermit<'a>,
}

impl Turns {
    /// Waits for a permit. The semaphores are never closed.
    pub(super) async fn take(&self, network: IpAddr) -> Option<Turn<'_>> {
        Some(Turn {
            _of_network: self.networks.of(network).acquire_owned().await.ok()?,
            _of_all: self.all.acquire().await.ok()?,
        })
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            networks: Semaphores::new(AT_ONCE),
            all: Semaphore::new(AT_ONCE),
        }
    }
}
