//! How many connections a listener has, and how many it may have.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::settings::Settings;

/// Descriptors that the service has beside those of clients and of the pool of the database: its log,
/// its listeners, its own connections, and what the modules of tokens open while they work.
const OWN: u64 = 48;

/// A listener that stays full says so once in this time.
const SAID_AGAIN: Duration = Duration::from_secs(60);

/// The connections of one listener. Clones tell of the same ones.
#[derive(Clone, Debug)]
pub struct Connections(Arc<House>);

#[derive(Debug)]
struct House {
    limit: u32,
    free: Arc<Semaphore>,
    open: AtomicUsize,
    /// How often a connection had to wait for another to end.
    waits: AtomicU64,
    said: Mutex<Option<Instant>>,
}

/// Room for one more connection.
pub(super) struct Room {
    permit: OwnedSemaphorePermit,
    connections: Connections,
}

/// An open connection, which makes room for another when it is dropped.
pub(super) struct Guest {
    _permit: OwnedSemaphorePermit,
    connections: Connections,
}

/// As many connections as the settings allow, or as this process has descriptors for.
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
    /// None yet, and at most `limit`.
    pub(super) fn at_most(limit: u32) -> Self {
        let permits = usize::try_from(limit).unwrap_or(usize::MAX);
        Self(Arc::new(House {
            limit,
            free: Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))),
            open: AtomicUsize::new(0),
            waits: AtomicU64::new(0),
            said: Mutex::default(),
        }))
    }

    /// Room for one more, as soon as there is. Clients wait in the system's queue until then.
    pub(super) async fn room(&self) -> Option<Room> {
        let free = &self.0.free;
        let permit = match free.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.0.waits.fetch_add(1, Ordering::Relaxed);
                self.say_full();
                // It is closed by nobody.
                free.clone().acquire_owned().await.ok()?
            }
        };
        Some(Room {
            permit,
            connections: self.clone(),
        })
    }

    /// Resolves once none is left, and nobody is taking any.
    pub(super) async fn all_gone(&self) {
        // An error would say that it is closed, which nobody does.
        let _ = self.0.free.acquire_many(self.0.limit).await;
    }

    /// How many are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// How many there may be.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.0.limit
    }

    /// How often one had to wait for another to end.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.0.waits.load(Ordering::Relaxed)
    }

    fn say_full(&self) {
        let mut said = self.0.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_none_or(|said| said.elapsed() >= SAID_AGAIN) {
            *said = Some(Instant::now());
            tracing::warn!(
                limit = self.0.limit,
                "http.max_connections is reached: new connections wait"
            );
        }
    }
}

impl Room {
    /// Somebody has come in.
    pub(super) fn taken(self) -> Guest {
        self.connections.0.open.fetch_add(1, Ordering::Relaxed);
        Guest {
            _permit: self.permit,
            connections: self.connections,
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.connections.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
