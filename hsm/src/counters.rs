//! Event counters of one token.

use std::sync::atomic::{AtomicU64, Ordering};

/// One live counter.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

macro_rules! counters {
    ($($(#[$description:meta])* $counter:ident,)+) => {
        /// Events on one token since it was opened. Every counter only grows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$description])* pub $counter: u64,)+
        }

        /// The live form of [`Counters`].
        #[derive(Debug, Default)]
        pub(crate) struct LiveCounters {
            $(pub(crate) $counter: Count,)+
        }

        impl LiveCounters {
            pub(crate) fn read(&self) -> Counters {
                Counters {
                    $($counter: self.$counter.0.load(Ordering::Relaxed),)+
                }
            }
        }
    };
}

counters! {
    /// Operations that a worker has run.
    operations,
    /// Operations that returned an error.
    failures,
    /// Operations that the token refused whatever their input.
    unusable,
    /// Operations refused because the queue was full.
    busy,
    /// Operations whose deadline passed while they were queued.
    late,
    /// Operations removed from the queue because the caller had gone.
    abandoned,
    /// Searches for a key on the token. Handles are cached, so this does not grow with operations.
    finds,
    /// Sessions opened.
    sessions_opened,
    /// Logins tried.
    logins,
    /// How often the breaker opened.
    outages,
}
