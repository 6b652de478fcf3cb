//! The connections of a listener and their limit.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use engine::ratelimit::network_of;
use engine::settings::{Http, Settings};

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
    quota: Quota,
    per_address: Mutex<HashMap<IpAddr, u32>>,
    /// The number of connections refused because their address has too many.
    refused: AtomicU64,
    warned_of_refused: Mutex<Option<Instant>>,
}

/// The connections of each client address.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    limit: u32,
    /// Networks of proxies, which have no limit.
    proxies: Arc<[IpNet]>,
}

/// A permit for one connection, from any address.
pub(super) struct Slot {
    permit: OwnedSemaphorePermit,
    connections: Connections,
}

/// An open connection; dropping it releases its permit.
pub(super) struct OpenConnection {
    _permit: OwnedSemaphorePermit,
    connections: Connections,
    /// The network that it counts for.
    network: Option<IpAddr>,
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
    /// No connections, with these limits.
    pub(super) fn at_most(limit: u32, quota: Quota) -> Self {
        let permits = usize::try_from(limit).unwrap_or(usize::MAX);
        Self(Arc::new(State {
            limit,
            free: Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))),
            open: AtomicUsize::new(0),
            waits: AtomicU64::new(0),
            warned: Mutex::default(),
            quota,
            per_address: Mutex::default(),
            refused: AtomicU64::new(0),
            warned_of_refused: Mutex::default(),
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
    pub(super) async fn wait_until_empty(&self) {
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

    /// The number of connections refused because their address has too many.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    fn warn_full(&self) {
        if is_due(&self.0.warned) {
            tracing::warn!(
                limit = self.0.limit,
                "http.max_connections is reached: new connections wait"
            );
        }
    }

    fn warn_refused(&self, peer: IpAddr) {
        self.0.refused.fetch_add(1, Ordering::Relaxed);
        if is_due(&self.0.warned_of_refused) {
            tracing::warn!(
                %peer,
                limit = self.0.quota.limit,
                "http.max_connections_per_address is reached: new connections of this address are closed"
            );
        }
    }

    fn per_address(&self) -> MutexGuard<'_, HashMap<IpAddr, u32>> {
        let per_address = &self.0.per_address;
        per_address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection for its network. Returns the network, or none for a proxy.
    fn count(&self, peer: IpAddr) -> Result<Option<IpAddr>, TooMany> {
        let quota = &self.0.quota;
        let peer = peer.to_canonical();
        if quota.proxies.iter().any(|proxies| proxies.contains(&peer)) {
            return Ok(None);
        }
        let network = network_of(peer);
        let mut per_address = self.per_address();
        let open = per_address.entry(network).or_default();
        if *open >= quota.limit {
            return Err(TooMany);
        }
        *open += 1;
        Ok(Some(network))
    }
}

/// The address has too many connections.
struct TooMany;

impl Quota {
    /// The limit in these settings.
    pub(super) fn of(http: &Http) -> Self {
        Self {
            limit: http.max_connections_per_address,
            proxies: http.trusted_proxies.as_slice().into(),
        }
    }
}

/// Whether a warning is due, which then counts as given.
fn is_due(warned: &Mutex<Option<Instant>>) -> bool {
    let mut warned = warned.lock().unwrap_or_else(PoisonError::into_inner);
    let is_due = warned.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL);
    if is_due {
        *warned = Some(Instant::now());
    }
    is_due
}

impl Slot {
    /// Opens the connection; none if its address has too many.
    pub(super) fn open_connection(self, peer: IpAddr) -> Option<OpenConnection> {
        let connections = self.connections;
        let Ok(network) = connections.count(peer) else {
            connections.warn_refused(peer);
            return None;
        };
        connections.0.open.fetch_add(1, Ordering::Relaxed);
        Some(OpenConnection {
            _permit: self.permit,
            connections,
            network,
        })
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let connections = &self.connections;
        connections.0.open.fetch_sub(1, Ordering::Relaxed);
        if let Some(network) = self.network
            && let Entry::Occupied(mut open) = connections.per_address().entry(network)
        {
            if *open.get() > 1 {
                *open.get_mut() -= 1;
            } else {
                open.remove();
            }
        }
    }
}
