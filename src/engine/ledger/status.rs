//! What this instance knows of sealing, for metrics and the dashboard.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::Log;
use formats::clock::Timestamp;

/// The state of sealing. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SealStatus(Arc<ArcSwap<(SealState, Vec<LogStatus>)>>);

/// What the sealer of this instance does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SealState {
    /// It has not run yet.
    #[default]
    Starting,
    /// `sealward audit init` has not run.
    NotInitialized,
    /// Another instance seals.
    Standby,
    /// It seals.
    Sealing,
    /// It cannot seal or sign, for this reason.
    Failed(String),
}

/// A log, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStatus {
    /// The log.
    pub log: Log,
    /// The number of sealed records.
    pub size: u64,
    /// The number of records after the newest sealed one, up to [`Self::MOST`].
    pub unsealed: u64,
    /// The number of records that the latest checkpoint covers.
    pub checkpoint_size: u64,
    /// The time of the latest checkpoint.
    pub checkpoint_at: Option<Timestamp>,
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
    pub const NAMES: [&str; 5] = [
        "starting",
        "not_initialized",
        "standby",
        "sealing",
        "failed",
    ];

    /// The name of the state.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::NotInitialized => "not_initialized",
            Self::Standby => "standby",
            Self::Sealing => "sealing",
            Self::Failed(_) => "failed",
        }
    }
}

impl WitnessStatus {
    /// A witness that has not answered yet.
    pub(super) fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            size: 0,
            cosigned_at: None,
            failure: None,
        }
    }
}

impl LogStatus {
    /// The number at which counting of unsealed records ends.
    pub const MOST: i64 = 100_000;
}

impl SealStatus {
    /// The state of the sealer.
    #[must_use]
    pub fn state(&self) -> SealState {
        self.0.load().0.clone()
    }

    /// The logs; none before `sealward audit init`.
    #[must_use]
    pub fn logs(&self) -> Vec<LogStatus> {
        self.0.load().1.clone()
    }

    pub(super) fn set_state(&self, state: &SealState) {
        self.0.rcu(|known| (state.clone(), known.1.clone()));
    }

    pub(super) fn set_logs(&self, logs: &[LogStatus]) {
        self.0.rcu(|known| (known.0.clone(), logs.to_vec()));
    }
}
