//! What this instance knows of sealing, for metrics and the dashboard.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Log;
use crate::jobs::{Job, Observed};
use formats::clock::{Clock, Timestamp};

/// The state of sealing. Clones share it.
#[derive(Clone)]
pub struct SealStatus {
    clock: Clock,
    state: Observed<SealState>,
    logs: Observed<Vec<LogStatus>>,
    /// How many records without a segment this instance sealed, in the order of [`Log::ALL`].
    stragglers: Arc<[AtomicU64; Log::ALL.len()]>,
}

/// What the sealer of this instance does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealState {
    /// It has not run yet.
    Starting,
    /// `sealward audit init` has not run.
    NotInitialized,
    /// Another instance seals.
    Standby,
    /// It seals.
    Sealing,
    /// It cannot seal or sign, for this reason.
    Failed(String),
    /// It has not reported its state for too long.
    Unknown,
}

/// A log, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStatus {
    pub log: Log,
    /// The number of sealed records.
    pub size: u64,
    /// The number of records after the newest sealed one, up to [`Self::MOST`].
    pub unsealed: u64,
    /// The number of records that the latest checkpoint covers, of those that this process has verified.
    pub checkpoint_size: u64,
    /// When that checkpoint was new.
    pub checkpoint_at: Option<Timestamp>,
    /// The same time; without such a checkpoint, when this process started.
    pub waits_since: Timestamp,
    /// The witnesses of the settings.
    pub witnesses: Vec<WitnessStatus>,
}

/// A witness of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessStatus {
    /// The name of its key.
    pub name: String,
    /// The number of records of the latest checkpoint that it cosigned.
    pub size: u64,
    /// The time of that cosignature, by its clock.
    pub cosigned_at: Option<Timestamp>,
    /// Why it did not cosign. None if its latest cosignature succeeded.
    pub failure: Option<String>,
}

impl SealState {
    /// The names of the states.
    pub const NAMES: [&str; 6] =
        ["starting", "not_initialized", "standby", "sealing", "failed", "unknown"];

    /// The name of the state.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::NotInitialized => "not_initialized",
            Self::Standby => "standby",
            Self::Sealing => "sealing",
            Self::Failed(_) => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl WitnessStatus {
    /// A witness that has not answered yet.
    pub(super) fn unknown(name: &str) -> Self {
        Self { name: name.to_owned(), size: 0, cosigned_at: None, failure: None }
    }
}

impl LogStatus {
    /// The number at which counting of unsealed records ends.
    pub const MOST: i64 = 100_000;
}

impl SealStatus {
    /// The status of a sealer that works at this interval.
    pub fn new(clock: Clock, interval: Duration) -> Self {
        let period = Job::Sealer.spec().every(interval).patience();
        Self {
            state: Observed::new(clock.clone(), period, SealState::Starting),
            logs: Observed::new(clock.clone(), period, Vec::new()),
            stragglers: Arc::default(),
            clock,
        }
    }

    pub fn state(&self) -> SealState {
        let known = self.state.known();
        known.map_or(SealState::Unknown, |state| state.as_ref().clone())
    }

    /// The logs; none before `sealward audit init`, or if they were not read for too long.
    pub fn logs(&self) -> Vec<LogStatus> {
        let known = self.logs.known();
        known.map_or_else(Vec::new, |logs| logs.as_ref().clone())
    }

    /// How many records without a segment this instance sealed, by log, since it started.
    pub fn stragglers(&self) -> impl Iterator<Item = (Log, u64)> {
        let counts = self.stragglers.iter().map(|count| count.load(Ordering::Relaxed));
        Log::ALL.into_iter().zip(counts)
    }

    pub(super) fn note_stragglers(&self, log: Log, records: u64) {
        let mut counts = Log::ALL.into_iter().zip(self.stragglers.iter());
        if let Some((_, count)) = counts.find(|(it, _)| *it == log) {
            count.fetch_add(records, Ordering::Relaxed);
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn set_state(&self, state: SealState) {
        self.state.set(state);
    }

    pub(super) fn set_logs(&self, logs: Vec<LogStatus>) {
        self.logs.set(logs);
    }
}
