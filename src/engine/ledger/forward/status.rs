//! What this instance knows of forwarding, for metrics and the dashboard.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::jobs::{Job, Observed};
use crate::ledger::Log;
use formats::clock::{Clock, Timestamp};

/// The state of forwarding. Clones share it.
#[derive(Clone)]
pub struct ForwardStatus {
    /// Whether a forwarder runs.
    is_on: Arc<AtomicBool>,
    state: Observed<ForwardState>,
    lags: Observed<Vec<Lag>>,
    /// How many records were omitted since the start of this instance.
    omitted: Arc<AtomicU64>,
}

/// What the forwarder of this instance does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardState {
    /// `audit.forward.url` is not set.
    Off,
    /// Another instance forwards, or nothing is sealed yet.
    Standby,
    /// It forwards.
    Forwarding,
    /// It cannot forward, for this reason.
    Failed(String),
    /// It has not reported its state for too long.
    Unknown,
}

/// The entries of a log that were not sent yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    pub log: Log,
    /// Their number.
    pub entries: u64,
    /// The time of the first of them.
    pub oldest: Option<Timestamp>,
}

impl ForwardState {
    /// The names of the states.
    pub const NAMES: [&str; 5] = ["off", "standby", "forwarding", "failed", "unknown"];

    /// The name of the state.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Standby => "standby",
            Self::Forwarding => "forwarding",
            Self::Failed(_) => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl ForwardStatus {
    /// The status of a forwarder that works at this interval, before it runs.
    pub fn new(clock: Clock, interval: Duration) -> Self {
        let period = Job::Forwarder.spec().every(interval).patience();
        Self {
            is_on: Arc::default(),
            state: Observed::new(clock.clone(), period, ForwardState::Standby),
            lags: Observed::new(clock, period, Vec::new()),
            omitted: Arc::default(),
        }
    }

    /// The state of the forwarder.
    pub fn state(&self) -> ForwardState {
        if !self.is_on.load(Ordering::Relaxed) {
            return ForwardState::Off;
        }
        let known = self.state.known();
        known.map_or(ForwardState::Unknown, |state| state.as_ref().clone())
    }

    /// The lag of each log; none without forwarding, or if it was not read for too long.
    pub fn lags(&self) -> Vec<Lag> {
        let known = self.lags.known();
        known.map_or_else(Vec::new, |lags| lags.as_ref().clone())
    }

    /// The number of records of which the collector received only the hash, since this instance started.
    pub fn omitted(&self) -> u64 {
        self.omitted.load(Ordering::Relaxed)
    }

    pub(super) fn note_omitted(&self) {
        self.omitted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn set_state(&self, state: ForwardState) {
        self.state.set(state);
        self.is_on.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_lags(&self, lags: Vec<Lag>) {
        self.lags.set(lags);
    }
}
