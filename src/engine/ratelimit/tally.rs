//! Counters of decisions of the limiter.

use std::sync::atomic::{AtomicU64, Ordering};

use super::scope::Scope;

/// The decisions for one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub scope: &'static str,
    /// Granted tokens.
    pub admitted: u64,
    /// Refused requests.
    pub refused: u64,
}

/// The mode of counting of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountedIn {
    /// In this process, without shared storage.
    Alone,
    /// In the shared storage.
    Together,
    /// In this process while the shared storage is unreachable.
    Apart,
}

/// The live form of [`Counts`], of every kind of bucket.
#[derive(Debug, Default)]
pub(super) struct Tally {
    alone: AtomicU64,
    together: AtomicU64,
    apart: AtomicU64,
    services: Decisions,
    admin_keys: Decisions,
    failures: Decisions,
    sign_ins: Decisions,
    logouts: Decisions,
}

#[derive(Debug, Default)]
struct Decisions {
    admitted: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    pub(super) fn count(&self, place: CountedIn, scope: Scope, is_admitted: bool) {
        let at_place = match place {
            CountedIn::Alone => &self.alone,
            CountedIn::Together => &self.together,
            CountedIn::Apart => &self.apart,
        };
        at_place.fetch_add(1, Ordering::Relaxed);
        let of_scope = match scope {
            Scope::Service(_) => &self.services,
            Scope::AdminKey(_) | Scope::Person(_) => &self.admin_keys,
            Scope::Failures(_) => &self.failures,
            Scope::SignIns(_) => &self.sign_ins,
            Scope::Logouts(_) => &self.logouts,
        };
        let decided = if is_admitted { &of_scope.admitted } else { &of_scope.refused };
        decided.fetch_add(1, Ordering::Relaxed);
    }

    /// The decisions per mode of counting.
    pub(super) fn places(&self) -> [(&'static str, u64); 3] {
        [("alone", &self.alone), ("together", &self.together), ("apart", &self.apart)]
            .map(|(place, decided)| (place, decided.load(Ordering::Relaxed)))
    }

    pub(super) fn read(&self) -> [Counts; 5] {
        [
            ("service", &self.services),
            ("admin_key", &self.admin_keys),
            ("failed_authentication", &self.failures),
            ("sign_in", &self.sign_ins),
            ("logout", &self.logouts),
        ]
        .map(|(scope, decided)| Counts {
            scope,
            admitted: decided.admitted.load(Ordering::Relaxed),
            refused: decided.refused.load(Ordering::Relaxed),
        })
    }
}
