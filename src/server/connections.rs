//! The connections of a listener and their limit.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use rustix::process::{Resource, getrlimit};
use tokio::time::Instant;

use engine::ratelimit::network_of;
use engine::settings::{Http, Settings};
use engine::shares::{self, Share, Shares};

/// File descriptors for everything but client and pool connections: the log, listeners, other
/// connections, and the modules of tokens.
const OWN: u64 = 48;

/// The interval of warnings while the limit is reached.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// The connections of one listener. Clones share them.
#[derive(Clone, Debug)]
pub struct Connections(Arc<ConnectionState>);

#[derive(Debug)]
struct ConnectionState {
    limit_per_address: u32,
    /// Networks of proxies, which have no limit.
    proxies: Vec<IpNet>,
    shares: Shares<IpAddr>,
    /// The connections that waited.
    waited: Occurrences,
    /// The connections refused because their address has too many.
    refused: Occurrences,
}

/// An open connection. The owner is its network.
pub(super) type OpenConnection = Share<IpAddr>;

/// A counter whose warnings have an interval.
#[derive(Debug, Default)]
struct Occurrences {
    number: AtomicU64,
    warned: Mutex<Option<Instant>>,
}

/// The limit in the settings, lowered to the available file descriptors.
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
    pub(super) fn at_most(limit: u32, http: &Http) -> Self {
        let limit_per_address = http.max_connections_per_address;
        Self(Arc::new(ConnectionState {
            limit_per_address,
            proxies: http.trusted_proxies.clone(),
            shares: Shares::new(shares::connections(limit, limit_per_address)),
            waited: Occurrences::default(),
            refused: Occurrences::default(),
        }))
    }

    /// Waits until another connection can be opened. Meanwhile clients wait in the backlog of the system.
    pub(super) async fn wait_for_place(&self) {
        let ConnectionState { shares, waited, .. } = &*self.0;
        if shares.free() > 0 {
            return;
        }
        if waited.count() {
            tracing::warn!(
                limit = self.limit(),
                "http.max_connections is reached: new connections wait"
            );
        }
        let _ = shares.take(None, 1).await;
    }

    /// Opens a connection; none if its address has too many.
    pub(super) fn open_for(&self, peer: IpAddr) -> Option<OpenConnection> {
        let peer = peer.to_canonical();
        let is_proxy = self.0.proxies.iter().any(|proxies| proxies.contains(&peer));
        let network = (!is_proxy).then(|| network_of(peer));
        let opened = self.0.shares.try_take(network, 1);
        if opened.is_none() && self.0.refused.count() {
            tracing::warn!(
                %peer,
                limit = self.0.limit_per_address,
                "http.max_connections_per_address is reached: new connections of this address are closed"
            );
        }
        opened
    }

    /// Resolves when no connection is left and none is accepted.
    pub(super) async fn wait_until_empty(&self) {
        let _ = self.0.shares.take(None, self.limit()).await;
    }

    /// The number of open connections.
    pub fn open(&self) -> usize {
        self.limit().saturating_sub(self.0.shares.free())
    }

    pub fn limit(&self) -> usize {
        self.0.shares.total()
    }

    /// The number of connections that waited.
    pub fn waits(&self) -> u64 {
        self.0.waited.number.load(Ordering::Relaxed)
    }

    /// The number of connections refused because their address has too many.
    pub fn refused(&self) -> u64 {
        self.0.refused.number.load(Ordering::Relaxed)
    }
}

impl Occurrences {
    /// Counts one. Returns whether a warning is due, which then counts as given.
    fn count(&self) -> bool {
        self.number.fetch_add(1, Ordering::Relaxed);
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = warned.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL);
        if is_due {
            *warned = Some(Instant::now());
        }
        is_due
    }
}
