//! The cache of key handles. Searching a token costs more with every object it holds.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use crate::KeyRef;
use crate::pkcs11::ObjectHandle;

/// How long the absence of a key is cached: the vendor's tools may copy it to the token at any
/// time, but not every operation may cost a search.
const ABSENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Handles(RwLock<KnownHandles>);

#[derive(Debug, Default)]
struct KnownHandles {
    /// Handles of former generations are dead, even when the token is back.
    generation: u64,
    known: HashMap<KeyRef, LastSearch>,
    /// Presence across generations, for status requests while the token is out.
    presence: HashMap<KeyRef, bool>,
}

/// The result of the last search for a key on a token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LastSearch {
    Held(ObjectHandle),
    Absent(Instant),
}

impl Handles {
    /// The result of the last search in this generation.
    pub(crate) fn get(&self, generation: u64, key: &KeyRef) -> Option<LastSearch> {
        let inner = self.read();
        let known = inner.known.get(key).copied();
        known.filter(|known| inner.generation == generation && known.is_current())
    }

    /// Whether the token is known not to hold a key, or a part of it.
    pub(crate) fn lacks(&self, key: &KeyRef) -> bool {
        let inner = self.read();
        let lacks = |part: &KeyRef| {
            let known = inner.known.get(part);
            known.is_some_and(|known| matches!(known, LastSearch::Absent(_)) && known.is_current())
        };
        key.parts().iter().any(lacks)
    }

    /// Whether the last searches have found every part of the key; none if there was no search.
    pub(crate) fn presence(&self, key: &KeyRef) -> Option<bool> {
        let inner = self.read();
        let parts = key.parts();
        let mut found = parts.iter().map(|part| inner.presence.get(part).copied());
        found.try_fold(true, |all, part| Some(all && part?))
    }

    /// Caches a result, unless it is of a former generation.
    pub(crate) fn keep(&self, generation: u64, key: &KeyRef, known: LastSearch) {
        let mut inner = self.write();
        if inner.generation == generation {
            let holds = matches!(known, LastSearch::Held(_));
            inner.presence.insert(key.clone(), holds);
            inner.known.insert(key.clone(), known);
        }
    }

    /// Removes a key from the cache.
    pub(crate) fn forget(&self, key: &KeyRef) {
        let mut inner = self.write();
        inner.known.remove(key);
        inner.presence.remove(key);
    }

    /// Starts a generation: all handles of former ones are dead.
    pub(crate) fn renew(&self, generation: u64) {
        let mut inner = self.write();
        if generation > inner.generation {
            inner.generation = generation;
            inner.known.clear();
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, KnownHandles> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, KnownHandles> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LastSearch {
    fn is_current(&self) -> bool {
        match self {
            Self::Held(_) => true,
            Self::Absent(since) => since.elapsed() <= ABSENCE,
        }
    }
}
