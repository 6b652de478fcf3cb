//! Keys found once, and their handles kept: finding costs more with every key a token holds.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use cryptoki::object::ObjectHandle;

use crate::KeyRef;

/// For how long a key that was not found is not looked for again: the vendor's tools may copy it
/// here at any time, but not every operation may cost a search.
const ABSENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Handles {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Handles of former generations are dead, even when the token is back.
    generation: u64,
    known: HashMap<KeyRef, Known>,
    /// What is known of keys across generations, for whoever asks while the token is out.
    presence: HashMap<KeyRef, bool>,
}

/// What is known of a key on a token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    Held(ObjectHandle),
    Absent(Instant),
}

impl Handles {
    /// What is known of a key in this generation.
    pub(crate) fn get(&self, generation: u64, key: &KeyRef) -> Option<Known> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        if inner.generation != generation {
            return None;
        }
        match inner.known.get(key) {
            Some(Known::Absent(since)) if since.elapsed() > ABSENCE => None,
            known => known.copied(),
        }
    }

    /// Whether the token is known not to hold a key.
    pub(crate) fn lacks(&self, key: &KeyRef) -> bool {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        matches!(inner.known.get(key), Some(Known::Absent(since)) if since.elapsed() <= ABSENCE)
    }

    /// Whether the token holds a key, as far as it has ever been asked.
    pub(crate) fn presence(&self, key: &KeyRef) -> Option<bool> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.presence.get(key).copied()
    }

    /// Keeps what was found, unless it was found in a generation that has passed.
    pub(crate) fn keep(&self, generation: u64, key: &KeyRef, known: Known) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if inner.generation == generation {
            inner
                .presence
                .insert(key.clone(), matches!(known, Known::Held(_)));
            inner.known.insert(key.clone(), known);
        }
    }

    /// Look for this key anew next time.
    pub(crate) fn forget(&self, key: &KeyRef) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.known.remove(key);
        inner.presence.remove(key);
    }

    /// All handles are dead from this generation on.
    pub(crate) fn renew(&self, generation: u64) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if generation > inner.generation {
            inner.generation = generation;
            inner.known.clear();
        }
    }
}
