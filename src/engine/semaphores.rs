//! A semaphore for each owner, which exists while the owner uses it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// The minimum number of semaphores at which unused ones are removed.
const FEW: usize = 256;

/// A semaphore with the same number of permits for each owner.
#[derive(Debug)]
pub struct Semaphores<K> {
    permits: usize,
    used: Mutex<Used<K>>,
}

#[derive(Debug)]
struct Used<K> {
    semaphores: HashMap<K, Weak<Semaphore>>,
    sweep_at: usize,
}

impl<K: Eq + Hash> Semaphores<K> {
    /// Semaphores with this number of permits each.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        let used = Used {
            semaphores: HashMap::new(),
            sweep_at: FEW,
        };
        Self {
            permits,
            used: Mutex::new(used),
        }
    }

    /// The semaphore of `owner`.
    #[must_use]
    pub fn of(&self, owner: K) -> Arc<Semaphore> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(semaphore) = used.semaphores.get(&owner).and_then(Weak::upgrade) {
            return semaphore;
        }
        used.sweep();
        let semaphore = Arc::new(Semaphore::new(self.permits));
        used.semaphores.insert(owner, Arc::downgrade(&semaphore));
        semaphore
    }
}

impl<K: Eq + Hash> Used<K> {
    /// Removes unused semaphores whenever the number has doubled since the last sweep, so that the cost
    /// per semaphore is constant.
    fn sweep(&mut self) {
        if self.semaphores.len() >= self.sweep_at {
            self.semaphores.retain(|_, it| it.strong_count() > 0);
            self.sweep_at = FEW.max(self.semaphores.len() * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_has_one_semaphore_while_it_is_used() {
        let semaphores = Semaphores::new(2);
        let permit = semaphores.of(1).try_acquire_owned().unwrap();
        assert_eq!(semaphores.of(1).available_permits(), 1);
        assert_eq!(semaphores.of(2).available_permits(), 2);
        drop(permit);
        assert_eq!(semaphores.of(1).available_permits(), 2);
    }

    #[test]
    fn unused_semaphores_are_removed() {
        let semaphores = Semaphores::new(1);
        let used = semaphores.of(0);
        for owner in 1..100_000 {
            drop(semaphores.of(owner));
        }
        assert!(semaphores.used.lock().unwrap().semaphores.len() <= FEW);
        assert!(Arc::ptr_eq(&used, &semaphores.of(0)));
    }
}
