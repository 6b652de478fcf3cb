//! A bounded read-through cache, used only while the catalog is current.

use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::future::{Cache as Entries, CacheBuilder};
use moka::policy::EvictionPolicy;

use super::{Catalog, Topic};
use crate::db::is_transient;

/// The database is unreachable, and no cached value may replace it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the database could not be read: {0}")]
pub struct Unreadable(#[source] pub Arc<sqlx::Error>);

impl Unreadable {
    /// Whether this passes: it is no defect of the service.
    pub fn is_transient(&self) -> bool {
        is_transient(&self.0)
    }
}

impl From<sqlx::Error> for Unreadable {
    fn from(error: sqlx::Error) -> Self {
        Self(Arc::new(error))
    }
}

type Loading<V> = Pin<Box<dyn Future<Output = Result<Option<V>, Unreadable>> + Send>>;
type Loader<K, V> = dyn Fn(K) -> Loading<V> + Send + Sync;

/// How long a missing value stays missing without a notification.
const MISSING_FOR: Duration = Duration::from_secs(1);

/// How long a read is kept while the catalog is not current. Only requests that arrived before it
/// began use it.
const READS_FOR: Duration = Duration::from_secs(1);

/// Values of `V` by `K`, read by a loader.
///
/// Values are cloned, so `V` should be cheap to clone. Missing values are kept apart, so that they
/// do not evict values.
pub struct Cache<K, V> {
    catalog: Catalog,
    topics: &'static [Topic],
    entries: Entries<(u64, K), V>,
    missing: Entries<(u64, K), ()>,
    /// Keys that had a value in any epoch. Their look-ups need no admission.
    proven: Entries<K, ()>,
    /// The last reads while the catalog is not current, with their numbers.
    reads: Entries<K, (u64, Result<Option<V>, Unreadable>)>,
    /// The number of reads that began.
    begun: AtomicU64,
    /// The epoch of the last look-up. Entries of earlier epochs are stale.
    epoch: AtomicU64,
    load: Box<Loader<K, V>>,
}

/// Why a shared read returned no value.
enum Without<R> {
    Existing,
    Reading(Unreadable),
    Admission(R),
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// A cache of at most `capacity` values that depend on `topics` only.
    pub fn new<L, F>(catalog: Catalog, topics: &'static [Topic], capacity: u64, load: L) -> Self
    where
        L: Fn(K) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Option<V>, Unreadable>> + Send + 'static,
    {
        Self {
            catalog,
            topics,
            entries: entries(capacity).build(),
            missing: entries(capacity).time_to_live(MISSING_FOR).build(),
            proven: entries(capacity).build(),
            reads: entries(capacity).time_to_live(READS_FOR).build(),
            begun: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
            load: Box::new(move |key| Box::pin(load(key))),
        }
    }

    /// The current value of `key`.
    pub async fn get(&self, key: &K) -> Result<Option<V>, Unreadable> {
        self.get_admitted(key, async { Ok::<_, Unreadable>(()) }).await
    }

    /// The current value of `key`. A read of the database waits for `admission` first, unless the key
    /// had a value before.
    ///
    /// A read is rare and its future is large, so it is boxed: the future of each request contains
    /// several look-ups.
    pub(crate) async fn get_admitted<R>(
        &self,
        key: &K,
        admission: impl Future<Output = Result<(), R>> + Send,
    ) -> Result<Option<V>, R>
    where
        R: From<Unreadable> + Clone + Send + Sync + 'static,
    {
        if !self.catalog.is_current() {
            if !self.proven.contains_key(key) {
                admission.await?;
            }
            return Ok(Box::pin(self.read_together(key)).await?);
        }
        let place = self.now(key);
        match self.entries.get(&place).await {
            Some(value) => Ok(Some(value)),
            None => Box::pin(self.read_once(place, admission)).await,
        }
    }

    /// Reads the value at `place` and keeps it. Equal look-ups share a read.
    async fn read_once<R>(
        &self,
        place: (u64, K),
        admission: impl Future<Output = Result<(), R>> + Send,
    ) -> Result<Option<V>, R>
    where
        R: From<Unreadable> + Clone + Send + Sync + 'static,
    {
        let key = &place.1;
        let loading = async {
            if self.missing.contains_key(&place) {
                return Err(Without::Existing);
            }
            if !self.proven.contains_key(key) {
                admission.await.map_err(Without::Admission)?;
            }
            match self.load(key).await {
                Ok(Some(value)) => Ok(value),
                Ok(None) => {
                    self.missing.insert(place.clone(), ()).await;
                    Err(Without::Existing)
                }
                Err(error) => Err(Without::Reading(error)),
            }
        };
        match self.entries.try_get_with(place.clone(), loading).await {
            Ok(value) => Ok(Some(value)),
            Err(why) => match Arc::try_unwrap(why) {
                Ok(Without::Existing) => Ok(None),
                Ok(Without::Admission(refused)) => Err(refused),
                Ok(Without::Reading(error)) => Err(error.into()),
                Err(shared) => match &*shared {
                    Without::Existing => Ok(None),
                    Without::Admission(refused) => Err(refused.clone()),
                    // Waiters retry by themselves instead of sharing an error.
                    Without::Reading(_) => Ok(self.load(key).await?),
                },
            },
        }
    }

    /// The last known value of `key`, which may be stale: for requests that must work during an
    /// outage.
    pub async fn remembered(&self, key: &K) -> Option<V> {
        self.entries.get(&self.now(key)).await
    }

    /// Reads the value of `key`. Equal look-ups share a read, but only one that begins after they
    /// arrive: an earlier read could miss a change.
    async fn read_together(&self, key: &K) -> Result<Option<V>, Unreadable> {
        let arrived = self.begun.load(Ordering::SeqCst);
        loop {
            let read = async {
                let number = self.begun.fetch_add(1, Ordering::SeqCst).saturating_add(1);
                (number, self.read_and_remember(key).await)
            };
            let entry = self.reads.entry(key.clone());
            let is_early = |(number, _): &(u64, _)| *number <= arrived;
            let entry = entry.or_insert_with_if(read, is_early).await;
            let (number, value) = entry.into_value();
            if number > arrived {
                return value;
            }
        }
    }

    async fn read_and_remember(&self, key: &K) -> Result<Option<V>, Unreadable> {
        let place = self.now(key);
        let value = self.load(key).await?;
        match &value {
            Some(value) => self.entries.insert(place, value.clone()).await,
            None => self.entries.invalidate(&place).await,
        }
        Ok(value)
    }

    async fn load(&self, key: &K) -> Result<Option<V>, Unreadable> {
        let value = (self.load)(key.clone()).await?;
        match &value {
            Some(_) => self.proven.insert(key.clone(), ()).await,
            None => self.proven.invalidate(key).await,
        }
        Ok(value)
    }

    /// The entry of `key` in the current epoch. Entries of earlier epochs are evicted.
    fn now(&self, key: &K) -> (u64, K) {
        let epoch = self.catalog.epoch_of(self.topics);
        if self.epoch.load(Ordering::Relaxed) < epoch
            && self.epoch.fetch_max(epoch, Ordering::Relaxed) < epoch
        {
            self.entries.invalidate_all();
            self.missing.invalidate_all();
        }
        (epoch, key.clone())
    }
}

/// Entries that evict the least recently used one.
fn entries<K, V>(capacity: u64) -> CacheBuilder<K, V, Entries<K, V>>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Entries::builder().max_capacity(capacity).eviction_policy(EvictionPolicy::lru())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn without_notices_equal_look_ups_share_a_read_that_begins_after_them() {
        let (reads, gate) = (Arc::new(AtomicU32::new(0)), Arc::new(Semaphore::new(0)));
        let (counted, passed) = (Arc::clone(&reads), Arc::clone(&gate));
        let load = move |_: u32| {
            let (number, gate) = (counted.fetch_add(1, Ordering::SeqCst), Arc::clone(&passed));
            async move {
                let _open = gate.acquire().await;
                Ok(Some(number))
            }
        };
        let catalog = Catalog::new();
        assert!(!catalog.is_current());
        let cache = Cache::new(catalog, &[Topic::Policies], 20_000, load);
        // The first look-up reads; the others arrive during its read.
        let others = join_all((0..50).map(|_| cache.get(&1)));
        let (first, others, ()) =
            tokio::join!(cache.get(&1), others, async { gate.add_permits(1) });
        assert_eq!(first.unwrap(), Some(0));
        for other in others {
            assert_eq!(other.unwrap(), Some(1));
        }
        assert_eq!(reads.load(Ordering::SeqCst), 2);
        assert_eq!(cache.get(&1).await.unwrap(), Some(2));
    }

    #[tokio::test]
    async fn outdated_entries_are_not_cached() {
        let catalog = Catalog::new();
        let read = |key: u32| async move { Ok(Some(key)) };
        let cache = Cache::new(catalog.clone(), &[Topic::Policies], 20_000, read);
        for _ in 0..1_000 {
            catalog.changed(Topic::Policies);
            for key in 0..3 {
                assert_eq!(cache.get(&key).await.unwrap(), Some(key));
                assert_eq!(cache.remembered(&key).await, Some(key));
            }
        }
        cache.entries.run_pending_tasks().await;
        assert_eq!(cache.entries.entry_count(), 3);
    }
}
