//! Records that every request reads and administrators rarely change: cached while the cache is
//! known to be current.
//!
//! A change sends `NOTIFY` in its transaction. Each instance listens on a connection with a
//! heartbeat. While the heartbeat is late, every look-up reads the database. So a change applies
//! everywhere within a second.
//!
//! Each topic has an epoch, which a change increments. The epoch is part of the cache key: a value
//! read before a change is stored under an old epoch, and a look-up after a change never joins an
//! earlier read.

mod cache;
mod flag;
mod listener;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

pub use self::cache::{Cache, Unreadable};
pub use self::flag::Flag;
pub use self::listener::{LISTENER, floor_of_listener};

/// How long a heartbeat keeps the cache valid, from the time it was sent.
const CONFIRMED_FOR: Duration = Duration::from_millis(750);

/// A topic of changes: one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The table `services`.
    Services,
    /// The table `emergency`.
    Emergency,
    /// The table `policies`.
    Policies,
    /// The table `api_keys`.
    ApiKeys,
    /// The table `keys`.
    Keys,
    /// The table `identities`.
    Identities,
    /// The locks in the table `people`.
    People,
}

impl Topic {
    const ALL: [Self; 7] = [
        Self::Services,
        Self::Emergency,
        Self::Policies,
        Self::ApiKeys,
        Self::Keys,
        Self::Identities,
        Self::People,
    ];

    fn of_table(name: &str) -> Option<Self> {
        match name {
            "services" => Some(Self::Services),
            "emergency" => Some(Self::Emergency),
            "policies" => Some(Self::Policies),
            "api_keys" => Some(Self::ApiKeys),
            "keys" => Some(Self::Keys),
            "identities" => Some(Self::Identities),
            "people" => Some(Self::People),
            _ => None,
        }
    }
}

/// The state of the caches. Clones share it.
#[derive(Clone, Debug)]
pub struct Catalog(Arc<Knowledge>);

#[derive(Debug)]
struct Knowledge {
    epochs: Epochs,
    /// The origin of heartbeat times, in milliseconds.
    started: Instant,
    /// When the last heartbeat expires.
    confirmed_until: AtomicI64,
}

#[derive(Debug, Default)]
struct Epochs {
    services: AtomicU64,
    emergency: AtomicU64,
    policies: AtomicU64,
    api_keys: AtomicU64,
    keys: AtomicU64,
    identities: AtomicU64,
    people: AtomicU64,
}

impl Catalog {
    /// A catalog that is not current until [`Catalog::listen`] runs.
    #[expect(
        clippy::new_without_default,
        reason = "a catalog reads the monotonic clock: it has no neutral value"
    )]
    pub fn new() -> Self {
        Self(Arc::new(Knowledge {
            epochs: Epochs::default(),
            started: Instant::now(),
            confirmed_until: AtomicI64::new(i64::MIN),
        }))
    }

    /// This instance changed a topic: later look-ups see the change.
    ///
    /// Call it after the commit and before the answer. Postgres notifies other instances.
    pub fn changed(&self, topic: Topic) {
        self.epoch(topic).fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the last heartbeat is recent.
    pub fn is_current(&self) -> bool {
        self.millis_at(Instant::now()) < self.0.confirmed_until.load(Ordering::SeqCst)
    }

    fn everything_changed(&self) {
        for topic in Topic::ALL {
            self.changed(topic);
        }
    }

    fn confirm_by_beat_of(&self, sent: Instant) {
        let until = self.millis_at(sent + CONFIRMED_FOR);
        self.0.confirmed_until.fetch_max(until, Ordering::SeqCst);
    }

    fn withdraw_confirmation(&self) {
        self.0.confirmed_until.store(i64::MIN, Ordering::SeqCst);
    }

    /// Epochs only grow, so their sum changes with any of them.
    fn epoch_of(&self, topics: &[Topic]) -> u64 {
        topics.iter().map(|topic| self.epoch(*topic).load(Ordering::SeqCst)).sum()
    }

    fn epoch(&self, topic: Topic) -> &AtomicU64 {
        let epochs = &self.0.epochs;
        match topic {
            Topic::Services => &epochs.services,
            Topic::Emergency => &epochs.emergency,
            Topic::Policies => &epochs.policies,
            Topic::ApiKeys => &epochs.api_keys,
            Topic::Keys => &epochs.keys,
            Topic::Identities => &epochs.identities,
            Topic::People => &epochs.people,
        }
    }

    fn millis_at(&self, moment: Instant) -> i64 {
        let since = moment.saturating_duration_since(self.0.started);
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}
