//! A boolean that every request reads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Cache, Catalog, Topic, Unreadable};

/// A boolean that depends on `topics` only. Its last value is beside its cache, because a look-up in the cache
/// is dear for what every request does.
pub struct Flag {
    catalog: Catalog,
    topics: &'static [Topic],
    cache: Cache<(), bool>,
    /// The last value together with the epoch before it was read.
    last: AtomicU64,
}

/// No epoch is as large.
const NEVER_READ: u64 = u64::MAX;

impl Flag {
    /// A flag that `load` reads.
    pub fn new<L, F>(catalog: Catalog, topics: &'static [Topic], load: L) -> Self
    where
        L: Fn(()) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Option<bool>, Unreadable>> + Send + 'static,
    {
        let cache = Cache::new(catalog.clone(), topics, 1, load);
        Self { catalog, topics, cache, last: AtomicU64::new(NEVER_READ) }
    }

    /// The current value.
    pub async fn get(&self) -> Result<Option<bool>, Unreadable> {
        let epoch = self.catalog.epoch_of(self.topics);
        if self.catalog.is_current() {
            let last = self.last.load(Ordering::SeqCst);
            let mut values = [false, true].into_iter();
            if let Some(value) = values.find(|value| last == at(epoch, *value)) {
                return Ok(Some(value));
            }
        }
        let value = self.cache.get(&()).await?;
        if let Some(value) = value {
            self.last.store(at(epoch, value), Ordering::SeqCst);
        }
        Ok(value)
    }
}

fn at(epoch: u64, value: bool) -> u64 {
    epoch << 1 | u64::from(value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_flag_is_read_once_an_epoch_while_the_catalog_is_current() {
        let (catalog, reads) = (Catalog::new(), Arc::new(AtomicU32::new(0)));
        let stored = Arc::new(AtomicBool::new(false));
        let (counted, shown) = (Arc::clone(&reads), Arc::clone(&stored));
        let flag = Flag::new(catalog.clone(), &[Topic::Emergency], move |()| {
            counted.fetch_add(1, Ordering::SeqCst);
            let value = shown.load(Ordering::SeqCst);
            async move { Ok(Some(value)) }
        });
        catalog.confirm_by_beat_of(Instant::now());
        for _ in 0..3 {
            assert_eq!(flag.get().await.unwrap(), Some(false));
        }
        assert_eq!(reads.load(Ordering::SeqCst), 1);
        stored.store(true, Ordering::SeqCst);
        catalog.changed(Topic::Emergency);
        assert_eq!(flag.get().await.unwrap(), Some(true));
        // Without a heartbeat, the last value can be old.
        catalog.withdraw_confirmation();
        stored.store(false, Ordering::SeqCst);
        assert_eq!(flag.get().await.unwrap(), Some(false));
    }
}
