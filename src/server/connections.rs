//! The connections of a listener and their limit.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::settings::Settings;

/// File descriptors for everything but client and pool connections: the log, listeners, other
/// connections, and the modules of tokens.
const OWN: u64 = 48;

/// The interval of warnings while the limit is reached.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// The connections of one listener. Clones share them.
#[derive(Clone, Debug)]
pub struct Connections(Arc<State>);

#[derive(Debug)]
struct State {
    limit: u32,
    free: Arc<Semaphore>,
    open: AtomicUsize,
    /// The number of connections that waited.
    waits: AtomicU64,
    warned: Mutex<Option<Instant>>,
}

/// A permit for one connection.
pub(super) struct Slot {
    permit: OwnedSemaphorePermit,
    connections: Connections,
}

/// An open connection; dropping it releases its permit.
pub(super) struct OpenConnection {
    _permit: OwnedSemaphorePermit,
    connections: Connections,
}

/// The limit in the settings, lowered to the available file descriptors.
#[must_use]
pub fn connections_allowed(settings: &Settings) -> u32 {
    let wanted = settings.http.max_connections;
    let Some(descriptors) = getrlimit(Resource::Nofile).current else {
        return wanted;
    };
    let taken = OWN + u64::from(settings.database.connections);
    let left = descriptors.saturating_sub(taken).max(1);
    let fitting = u32::try_from(left).unwrap_or(u32::MAX);
    if fitting < wanted {
        tracing::info!(
            connections = fitting,
            descriptors,
            "the limit of file descriptors lowers http.max_connections: raise LimitNOFILE="
        );
    }
    wanted.min(fitting)
}

impl Connections {
    /// No connections, with this limit.
    pub(super) fn at_most(limit: u32) -> Self {
        let permits = usize::try_from(limit).unwrap_or(usize::MAX);
        Self(Arc::new(State {
            limit,
            free: Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))),
            open: AtomicUsize::new(0),
            waits: AtomicU64::new(0),
            warned: Mutex::default(),
        }))
    }

    /// Waits for a permit. Meanwhile clients wait in the backlog of the system.
    pub(super) async fn slot(&self) -> Option<Slot> {
        let free = &self.0.free;
        let permit = match free.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.0.waits.fetch_add(1, Ordering::Relaxed);
                self.warn_full();
                // The semaphore is never closed.
                free.clone().acquire_owned().await.ok()?
            }
        };
        Some(Slot {
            permit,
            connections: self.clone(),
        })
    }

    /// Resolves when no connection is left and none is accepted.
    pub(super) async fn all_gone(&self) {
        // The semaphore is never closed.
        let _ = self.0.free.acquire_many(self.0.limit).await;
    }

    /// The number of open connections.
    #[must_use]
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// The limit.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.0.limit
    }

    /// The number of connections that waited.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.0.waits.load(Ordering::Relaxed)
    }

    fn warn_full(&self) {
        let mut warned = self.0.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL) {
            *warned = Some(Instant::now());
            tracing::warn!(
                limit = self.0.limit,
                "http.max_connections is reached: new connections wait"
            );
        }
    }
}

impl Slot {
    /// Opens the connection.
    pub(super) fn open_connection(self) -> OpenConnection {
        self.connections.0.open.fetch_add(1, Ordering::Relaxed);
        OpenConnection {
            _permit: self.permit,
            connections: self.connections,
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
