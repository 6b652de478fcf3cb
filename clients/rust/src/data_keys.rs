//! A cache of data keys, which is off by default.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::runtime::{DataKey, Sealed};
use crate::{Client, Envelope, Scope};

/// The limits of a cache of data keys. A key that reaches one of them is not used again.
#[derive(Clone, Copy, Debug)]
pub struct CacheLimits {
    /// The time for which a key is used. The next key that is requested wipes older ones.
    pub max_age: Duration,
    /// The objects that are encrypted with a key.
    pub max_messages: u64,
    /// The bytes that are encrypted with a key.
    pub max_bytes: u64,
}

/// How many calls a cache saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters {
    /// The keys that came from the cache.
    pub hits: u64,
    /// The keys that were requested.
    pub misses: u64,
}

/// A data key of the cache. It is wiped when the cache and all its users have dropped it.
#[derive(Clone)]
pub struct CachedKey {
    key: Arc<Zeroizing<Vec<u8>>>,
    envelope: Envelope,
}

impl CachedKey {
    /// The bytes of the key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The envelope of the key.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    pub(crate) fn of(made: &DataKey) -> Self {
        Self::from_parts(made.key().unwrap_or_default().to_vec(), made.envelope.clone())
    }

    pub(crate) fn from_parts(key: Vec<u8>, envelope: Envelope) -> Self {
        Self { key: Arc::new(Zeroizing::new(key)), envelope }
    }
}

impl fmt::Debug for CachedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CachedKey([redacted])")
    }
}

/// The most keys of each kind in a cache.
const MOST_KEYS: usize = 1000;

pub(crate) struct DataKeyCache {
    limits: Option<CacheLimits>,
    made: Slots,
    opened: Slots,
    hits: AtomicU64,
    misses: AtomicU64,
}

// The names of the slots contain contexts.
impl fmt::Debug for DataKeyCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DataKeyCache").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// One slot for each name. Its lock lets one caller at a time ask for the key.
#[derive(Default)]
struct Slots(Mutex<HashMap<String, Arc<Slot>>>);

type Slot = AsyncMutex<Option<Kept>>;

struct Kept {
    key: CachedKey,
    since: Instant,
    messages: u64,
    bytes: u64,
}

impl Kept {
    fn is_within(&self, limits: &CacheLimits) -> bool {
        self.since.elapsed() < limits.max_age
    }

    /// Counts one more object with these bytes if the limits allow it.
    fn take(&mut self, bytes: u64, limits: &CacheLimits) -> bool {
        let total = self.bytes.saturating_add(bytes);
        let fits = self.messages < limits.max_messages && total <= limits.max_bytes;
        if fits {
            self.messages += 1;
            self.bytes = total;
        }
        fits && self.is_within(limits)
    }
}

impl Slots {
    fn slot(&self, name: &str) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(name.to_owned()).or_default())
    }

    /// Wipes the keys that are too old, or all if there are too many. A locked slot is in use.
    fn clear(&self, limits: &CacheLimits) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = slots.len() > MOST_KEYS;
        slots.retain(|_, slot| match slot.try_lock() {
            Ok(kept) => !is_full && kept.as_ref().is_some_and(|kept| kept.is_within(limits)),
            Err(_) => true,
        });
    }
}

impl DataKeyCache {
    pub(crate) fn new(limits: Option<CacheLimits>) -> Self {
        Self {
            limits,
            made: Slots::default(),
            opened: Slots::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
        if let Some(limits) = &self.limits {
            self.made.clear(limits);
            self.opened.clear(limits);
        }
    }
}

impl Client {
    /// A data key for an object with this number of bytes: from the cache, if there is one and its limits allow it.
    ///
    /// Calls at the same time cause one request.
    pub async fn cached_data_key(&self, bytes: u64, scope: &Scope) -> Result<CachedKey, Error> {
        let cache = self.data_key_cache();
        let Some(limits) = &cache.limits else {
            cache.miss();
            return Ok(CachedKey::of(&self.data_key(scope).await?));
        };
        let slot = cache.made.slot(&name_of(scope));
        let mut kept = slot.lock().await;
        if let Some(kept) = &mut *kept
            && kept.take(bytes, limits)
        {
            cache.hit();
            return Ok(kept.key.clone());
        }
        cache.miss();
        let since = Instant::now();
        let key = CachedKey::of(&self.data_key(scope).await?);
        *kept = Some(Kept { key: key.clone(), since, messages: 1, bytes });
        Ok(key)
    }

    /// Opens the envelope of a data key, with the cache if there is one.
    pub async fn open_data_key(
        &self,
        envelope: &Envelope,
        scope: &Scope,
    ) -> Result<CachedKey, Error> {
        let cache = self.data_key_cache();
        let Some(limits) = &cache.limits else {
            cache.miss();
            return self.request_to_open(envelope, scope).await;
        };
        let slot = cache.opened.slot(&format!("{envelope}{}", name_of(scope)));
        let mut kept = slot.lock().await;
        if let Some(kept) = &*kept
            && kept.is_within(limits)
        {
            cache.hit();
            return Ok(kept.key.clone());
        }
        cache.miss();
        let since = Instant::now();
        let key = self.request_to_open(envelope, scope).await?;
        *kept = Some(Kept { key: key.clone(), since, messages: 0, bytes: 0 });
        Ok(key)
    }

    /// How many calls the cache saved.
    pub fn data_key_counters(&self) -> CacheCounters {
        let cache = self.data_key_cache();
        CacheCounters {
            hits: cache.hits.load(Ordering::Relaxed),
            misses: cache.misses.load(Ordering::Relaxed),
        }
    }

    async fn request_to_open(
        &self,
        envelope: &Envelope,
        scope: &Scope,
    ) -> Result<CachedKey, Error> {
        let opened = self.unprotect(Sealed::Envelope(envelope), scope).await?;
        let key = Arc::new(opened.payload.to_bytes()?);
        Ok(CachedKey { key, envelope: envelope.clone() })
    }
}

/// A text that differs for each policy and each context.
fn name_of(scope: &Scope) -> String {
    serde_json::to_string(scope).unwrap_or_default()
}
