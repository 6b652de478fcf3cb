//! What this instance knows of forwarding, for metrics and the dashboard.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::ledger::Log;
use formats::clock::Timestamp;

/// The state of forwarding. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ForwardStatus(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    present: ArcSwap<(ForwardState, Vec<Lag>)>,
    /// How many records were omitted since the start of this instance.
    omitted: AtomicU64,
}

/// What the forwarder of this instance does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ForwardState {
    /// `audit.forward.url` is not set.
    #[default]
    Off,
    /// Another instance forwards, or nothing is sealed yet.
    Standby,
    /// It forwards.
    Forwarding,
    /// It cannot forward, for this reason.
    Failed(String),
}

/// The entries of a log that were not sent yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The log.
    pub log: Log,
    /// Their number.
    pub entries: u64,
    /// The time of the first of them.
    pub oldest: Option<Timestamp>,
}

impl ForwardState {
    /// The names of the states.
    pub const NAMES: [&str; 4] = ["off", "standby", "forwarding", "failed"];

    /// The name of the state.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Standby => "standby",
            Self::Forwarding => "forwarding",
            Self::Failed(_) => "failed",
        }
    }
}

impl ForwardStatus {
    /// The state of the forwarder.
    #[must_use]
    pub fn state(&self) -> ForwardState {
        self.0.present.load().0.clone()
    }

    /// The lag of each log; none without forwarding.
    #[must_use]
    pub fn lags(&self) -> Vec<Lag> {
        self.0.present.load().1.clone()
    }

    /// The number of records of which the collector received only the hash, since this instance started.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.0.omitted.load(Ordering::Relaxed)
    }

    pub(super) fn note_omitted(&self) {
        self.0.omitted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn set_state(&self, state: &ForwardState) {
        let present = &self.0.present;
        present.rcu(|known| (state.clone(), known.1.clone()));
    }

    pub(super) fn set_lags(&self, lags: &[Lag]) {
        let present = &self.0.present;
        present.rcu(|known| (known.0.clone(), lags.to_vec()));
    }
}
