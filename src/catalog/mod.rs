//! What is read on every request and changed by administrators now and then: kept in memory, and
//! known to be current.
//!
//! The database tells every instance of a change by `NOTIFY`, in the transaction that makes it. An
//! instance hears it on a connection that proves itself alive by its own heartbeat; while that proof
//! is missing nothing cached is trusted and every look-up reads the database. So a change holds
//! everywhere within a second, whatever breaks.
//!
//! Each kind of content has an epoch, which a change moves on. It is part of the key under which
//! [`Cache`] keeps an entry: what was read before a change can only be kept where nobody looks any
//! more, and a look-up after a change never joins a read that began before it.

mod cache;
mod listener;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

pub use self::cache::{Cache, Unreadable};
pub use self::listener::LISTENER;

/// How long one heartbeat vouches for what is cached, counted from when it was sent.
const VOUCHES_FOR: Duration = Duration::from_millis(750);

/// A kind of content; each is one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The table `services`.
    Services,
    /// The table `policies`.
    Policies,
    /// The table `api_keys`.
    ApiKeys,
    /// The table `keys`.
    Keys,
}

impl Topic {
    const ALL: [Self; 4] = [Self::Services, Self::Policies, Self::ApiKeys, Self::Keys];

    fn of_table(name: &str) -> Option<Self> {
        match name {
            "services" => Some(Self::Services),
            "policies" => Some(Self::Policies),
            "api_keys" => Some(Self::ApiKeys),
            "keys" => Some(Self::Keys),
            _ => None,
        }
    }
}

/// Knows which of what is cached is current. Clones share that knowledge.
#[derive(Clone, Debug)]
pub struct Catalog(Arc<Knowledge>);

#[derive(Debug)]
struct Knowledge {
    epochs: Epochs,
    /// Heartbeats are counted in milliseconds from here.
    started: Instant,
    /// Until when the last heartbeat that came back vouches for what is cached.
    vouched_until: AtomicI64,
}

#[derive(Debug, Default)]
struct Epochs {
    services: AtomicU64,
    policies: AtomicU64,
    api_keys: AtomicU64,
    keys: AtomicU64,
}

impl Catalog {
    /// A catalog that trusts nothing until [`Catalog::listen`] runs.
    #[must_use]
    #[allow(
        clippy::new_without_default,
        reason = "a catalog reads the monotonic clock: it has no neutral value"
    )]
    pub fn new() -> Self {
        Self(Arc::new(Knowledge {
            epochs: Epochs::default(),
            started: Instant::now(),
            vouched_until: AtomicI64::new(i64::MIN),
        }))
    }

    /// Something of this kind was changed here: no look-up from now on sees what was before.
    ///
    /// To be called after the change is committed and before it is answered. Other instances hear
    /// of it from the database.
    pub fn changed(&self, topic: Topic) {
        self.epoch(topic).fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the connection that hears of changes has proven itself lately.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.millis_at(Instant::now()) < self.0.vouched_until.load(Ordering::SeqCst)
    }

    fn everything_changed(&self) {
        for topic in Topic::ALL {
            self.changed(topic);
        }
    }

    fn vouched_by_beat_of(&self, sent: Instant) {
        let until = self.millis_at(sent + VOUCHES_FOR);
        self.0.vouched_until.fetch_max(until, Ordering::SeqCst);
    }

    fn not_vouched(&self) {
        self.0.vouched_until.store(i64::MIN, Ordering::SeqCst);
    }

    /// Epochs only grow, so their sum tells whether any of them did.
    fn epoch_of(&self, topics: &[Topic]) -> u64 {
        topics
            .iter()
            .map(|topic| self.epoch(*topic).load(Ordering::SeqCst))
            .sum()
    }

    fn epoch(&self, topic: Topic) -> &AtomicU64 {
        let epochs = &self.0.epochs;
        match topic {
            Topic::Services => &epochs.services,
            Topic::Policies => &epochs.policies,
            Topic::ApiKeys => &epochs.api_keys,
            Topic::Keys => &epochs.keys,
        }
    }

    fn millis_at(&self, moment: Instant) -> i64 {
        let since = moment.saturating_duration_since(self.0.started);
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}
